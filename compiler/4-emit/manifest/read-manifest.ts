import { compileRule } from "../../cel/compile.ts";
import { type Infer, openObject, text, validated } from "../../schema/schema.ts";
import { compileSchema } from "../../schema/schema-compiler.ts";
import { summaryFields } from "./manifest-schema.ts";

const schema = openObject(
  { gwc: text("the version that built it"), gateway: text("the gateway's name"), ...summaryFields },
  { required: ["gwc", "gateway", "listeners", "routes", "connections", "needs"] },
);

/** A `manifest.json` as far as it is read again. */
export type StoredManifest = Infer<typeof schema>;

/** What a text is: a manifest, something else, or one that says too little. */
export type ReadManifest =
  | { readonly kind: "manifest"; readonly manifest: StoredManifest }
  | { readonly kind: "problem"; readonly problem: string }
  | { readonly kind: "other" };

/** Reads a `manifest.json`; those of versions before it said what a bundle is are a problem. */
export function readManifest(json: string): ReadManifest {
  const parsed = parseJson(json);
  if (parsed === undefined) return { kind: "other" };
  const { value } = parsed;
  const { gwc, files } = Object(value);
  if (typeof gwc !== "string" || !Array.isArray(files)) return { kind: "other" };
  if (!compileSchema(schema, [value])(value)) {
    const problem = `gwc ${gwc} wrote it, whose manifests say too little; build it again`;
    return { kind: "problem", problem };
  }
  const manifest = validated(schema, value);
  const foreign = [...manifest.listeners, ...manifest.routes]
    .flatMap(({ rules }) => rules)
    .find(({ expression, about, action }) => {
      return compileRule(expression, about, action).expression === undefined;
    });
  if (foreign === undefined) return { kind: "manifest", manifest };
  return { kind: "problem", problem: `its rule does not compile: ${foreign.expression}` };
}

function parseJson(text: string) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

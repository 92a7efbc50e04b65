import { compileRule } from "../../cel/compile.ts";
import { type Infer, openObject, text, validated } from "../../schema/schema.ts";
import { compileSchema } from "../../schema/schema-compiler.ts";
import { summaryFields } from "./manifest-schema.ts";

const schema = openObject(
  { gwc: text("the version that built it"), gateway: text("the gateway's name"), ...summaryFields },
  { required: ["gwc", "gateway", "listeners", "routes", "connections", "needs"] },
);

/** The part of a `manifest.json` that is read again. */
export type StoredManifest = Infer<typeof schema>;

/** Kind of a JSON file: a manifest, an outdated manifest, or something else. */
export type ReadManifest =
  | { readonly kind: "manifest"; readonly manifest: StoredManifest }
  | { readonly kind: "problem"; readonly problem: string }
  | { readonly kind: "other" };

/** Reads a `manifest.json`; one of a version whose manifests lack a summary is a problem. */
export function readManifest(json: string): ReadManifest {
  const parsed = parseJson(json);
  if (parsed === undefined) return { kind: "other" };
  const { value } = parsed;
  const { gwc, files } = Object(value);
  if (typeof gwc !== "string" || !Array.isArray(files)) return { kind: "other" };
  if (!compileSchema(schema, [value])(value)) {
    const problem = `manifests of gwc ${gwc} have no summary; build it again`;
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

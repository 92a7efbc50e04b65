import { parseAllDocuments } from "yaml";
import { isJsonObject } from "../../../runtime/json/json-object.ts";
import { editorSchema } from "../../1-parse/standalone/editor.ts";
import { FILE_FORM } from "../reference/field-index.ts";
import { ComparedSchemas } from "./schema-changes.ts";
import { type AnySchema, asFields, asList } from "./value-changes.ts";

/** Schemas by what they describe: `gateway.yaml`, or a kind of manifest. */
type Schemas = ReadonlyMap<string, AnySchema>;

/** Maximum number of expanded aliases in a document. The definitions of `gwc schema --crd` need some hundred. */
const MAX_ALIASES = 10_000;

/**
 * Compares what an earlier version printed (`gwc schema`, or `gwc schema --crd`) with the schemas of this version.
 * Returns a reason as a string if the text is neither.
 */
export async function comparedVersions(
  text: string,
): Promise<ReadonlyMap<string, ComparedSchemas> | string> {
  const before = earlierSchemas(text);
  if (typeof before === "string") return before;
  const now = before.has(FILE_FORM) ? new Map([[FILE_FORM, editorSchema()]]) : await definitions();
  return new Map(
    [...before].flatMap(([form, schema]) => {
      const present = now.get(form);
      return present === undefined ? [] : [[form, new ComparedSchemas(schema, present)] as const];
    }),
  );
}

function earlierSchemas(text: string): Schemas | string {
  const values = valuesOf(text);
  if (values === undefined) return "is not a JSON schema";
  const [first] = values;
  if (isJsonObject(first) && String(first.$id).endsWith("/gateway.schema.json"))
    return new Map([[FILE_FORM, first]]);
  const found = schemasOf(values);
  return found.size > 0 ? found : "is neither the output of `gwc schema` nor of `gwc schema --crd`";
}

/** Parses JSON, or YAML with several documents; YAML takes seconds for the schema of the file. */
function valuesOf(text: string): readonly unknown[] | undefined {
  try {
    return [JSON.parse(text)];
  } catch {
    const documents = parseAllDocuments(text, { logLevel: "silent" });
    if ("empty" in documents || documents.some(({ errors }) => errors.length > 0)) return undefined;
    return documents.map((each): unknown => each.toJS({ maxAliasCount: MAX_ALIASES }));
  }
}

async function definitions(): Promise<Schemas> {
  const { customResourceDefinitions } = await import("../../1-parse/kubernetes/crd.ts");
  return schemasOf(customResourceDefinitions());
}

/** Returns the schemas of custom resource definitions by their kinds. */
function schemasOf(values: readonly unknown[]): Schemas {
  return new Map(
    values.flatMap((value) => {
      const spec = asFields(asFields(value).spec);
      const [version] = asList(spec.versions);
      const schema = asFields(asFields(version).schema).openAPIV3Schema;
      const { kind } = asFields(spec.names);
      return typeof kind === "string" && isJsonObject(schema) ? [[kind, schema] as const] : [];
    }),
  );
}

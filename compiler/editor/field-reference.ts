import { isMap, type YAMLMap } from "yaml";
import { isTestFile } from "../1-parse/input-files.ts";
import { kinds, resourceKind, splitApiVersion } from "../1-parse/kubernetes/kinds.ts";
import { standaloneSchema } from "../1-parse/standalone/standalone.ts";
import { CachedByObject } from "../cached-results.ts";
import type { CelPhase } from "../cel/variables/variables.ts";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import { FILE_FORM } from "../inspect/reference/field-index.ts";
import { testFileSchema } from "../inspect/tests/test-schema.ts";
import { type Schema, schemaAt } from "../schema/schema.ts";

/** The schema of a document, or of a resource in a list. */
export interface DocumentSchema {
  /** `gateway.yaml`, the kind of a manifest, or the name of test files. */
  readonly form: string;
  readonly schema: Schema;
  /** Path of the resource in its document. */
  readonly base: ConfigPath;
}

/** Name of the form of test files. */
const TEST_FORM = "test file";

/** Forms whose names are those of a standalone file. */
export const FILE_NAMES: ReadonlySet<string> = new Set([FILE_FORM, TEST_FORM]);

/** Form of a mapping by its keys, and the schema of its manifest if it is a known one. */
interface MappingForm {
  readonly kind: "file" | "list" | "manifest";
  readonly schema: DocumentSchema | undefined;
}

/** Schemas of the forms of documents, each built once. */
export class FieldReference {
  readonly #schemas = new Map<string, Schema>();
  /** Forms of mappings: a document is asked about once for each of its scalars. */
  readonly #forms = new CachedByObject<YAMLMap, MappingForm>();

  /** Returns the schema of the document at an index, or of its resource that contains `path`; `undefined` if it has none. */
  schemaOf(file: SourceFile, document: number, path: ConfigPath): DocumentSchema | undefined {
    if (isTestFile(file.path)) return { form: TEST_FORM, schema: testFileSchema, base: [] };
    const contents = file.documents[document]?.yaml.contents;
    const own = isMap(contents) ? this.#formOf(contents) : undefined;
    if (own === undefined || own.kind === "file") return this.#ofForm(FILE_FORM, standaloneSchema);
    const [first, index] = path;
    const isListed = own.kind === "list" && first === "items" && index !== undefined;
    if (!isListed || !isMap(contents)) return own.schema;
    const item = contents.getIn([first, index]);
    const schema = isMap(item) ? this.#formOf(item).schema : undefined;
    return schema && { ...schema, base: [first, index] };
  }

  #formOf(mapping: YAMLMap): MappingForm {
    return this.#forms.of(mapping, () => {
      if (!mapping.has("apiVersion") && !mapping.has("kind"))
        return { kind: "file", schema: undefined };
      const word = mapping.get("kind");
      const { group } = splitApiVersion(String(mapping.get("apiVersion") ?? ""));
      const found = resourceKind(group, String(word ?? ""));
      const row = kinds.find((each) => each.kind === found);
      return {
        kind: String(word).endsWith("List") ? "list" : "manifest",
        schema: row && this.#ofForm(row.kind, row.schema),
      };
    });
  }

  #ofForm(form: string, make: () => Schema): DocumentSchema {
    const schema = this.#schemas.get(form) ?? make();
    this.#schemas.set(form, schema);
    return { form, schema, base: [] };
  }
}

/** Returns the phase of the expression at a path; `undefined` if the field there is not an expression. */
export function phaseAt({ schema, base }: DocumentSchema, path: ConfigPath): CelPhase | undefined {
  const below = path.slice(base.length);
  if (schemaAt(schema, below)?.expression !== true) return undefined;
  const around = below.map((_, index) => schemaAt(schema, below.slice(0, index + 1)));
  return (
    around.findLast((each: Schema | undefined) => each?.phase !== undefined)?.phase ?? "request"
  );
}

import { isMap } from "yaml";
import { isTestFile } from "../1-parse/input-files.ts";
import { kinds, resourceKind, splitApiVersion } from "../1-parse/kubernetes/kinds.ts";
import { standaloneSchema } from "../1-parse/standalone/standalone.ts";
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

/** Schemas of the forms of documents, each built once. */
export class FieldReference {
  readonly #schemas = new Map<string, Schema>();

  /** Returns the schema of the document at an index, or of its resource that contains `path`; `undefined` if it has none. */
  schemaOf(file: SourceFile, document: number, path: ConfigPath): DocumentSchema | undefined {
    if (isTestFile(file.path)) return { form: TEST_FORM, schema: testFileSchema, base: [] };
    const contents = file.documents[document]?.yaml.contents;
    if (!isMap(contents)) return this.#ofForm(FILE_FORM, standaloneSchema);
    if (!contents.has("apiVersion") && !contents.has("kind"))
      return this.#ofForm(FILE_FORM, standaloneSchema);
    const [first, index] = path;
    const isListed =
      String(contents.get("kind")).endsWith("List") && first === "items" && index !== undefined;
    const base = isListed ? [first, index] : [];
    const resource = isListed ? contents.getIn(base) : contents;
    if (!isMap(resource)) return undefined;
    const { group } = splitApiVersion(String(resource.get("apiVersion") ?? ""));
    const kind = resourceKind(group, String(resource.get("kind") ?? ""));
    const row = kinds.find((each) => each.kind === kind);
    return row && { ...this.#ofForm(row.kind, row.schema), base };
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

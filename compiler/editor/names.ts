import { isMap, type Scalar } from "yaml";
import { kinds } from "../1-parse/kubernetes/kinds.ts";
import { DEFAULT_GATEWAY } from "../1-parse/standalone/gateway.ts";
import { CachedByObject } from "../cached-results.ts";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import { type SourceFile, scalarRange } from "../diagnostics/source.ts";
import { type Schema, schemaAt } from "../schema/schema.ts";
import { serversNamedIn } from "./cel-mcp-names.ts";
import {
  type DocumentSchema,
  FILE_NAMES,
  type FieldReference,
  phaseAt,
} from "./field-reference.ts";
import { visitScalars } from "./node-at.ts";

/** A place in a file where a name is declared or referred to. */
export interface NameUse {
  /** Kind of the name: that of a manifest, or of a name of a file. */
  readonly kind: string;
  /** The name in its scope: `default/tools` for a manifest, `default/api` for the listener of a gateway. */
  readonly name: string;
  readonly isDeclaration: boolean;
  readonly file: SourceFile;
  /** Offsets of the name itself, without quotes and other parts. */
  readonly start: number;
  readonly end: number;
  readonly document: number;
  readonly path: ConfigPath;
}

/** Finds the names in files, each file once. */
export class NameIndex {
  readonly #reference: FieldReference;
  readonly #known = new CachedByObject<SourceFile, readonly NameUse[]>();

  constructor(reference: FieldReference) {
    this.#reference = reference;
  }

  /** Returns the names of a file, in its order. */
  of(file: SourceFile): readonly NameUse[] {
    return this.#known.of(file, () => this.#read(file));
  }

  #read(file: SourceFile): readonly NameUse[] {
    const found: NameUse[] = [];
    for (const [document, { yaml }] of file.documents.entries())
      visitScalars(yaml.contents, [], (scalar, path, part) => {
        const schema = this.#reference.schemaOf(file, document, path);
        if (schema === undefined) return;
        const words = part === "key" ? keySchema(schema, path) : valueSchema(schema, path);
        const at = { file, document, path };
        if (words !== undefined) found.push(...usesOf(scalar, words, schema, at));
        if (part === "value" && phaseAt(schema, path) !== undefined)
          found.push(...serversIn(scalar, at));
      });
    return found;
  }
}

/** Place of a scalar. */
type ScalarPlace = Pick<NameUse, "file" | "document" | "path">;
/** Keywords of a schema about names. */
type NameWords = Pick<Schema, "declares" | "refersTo">;

function valueSchema({ schema, base }: DocumentSchema, path: ConfigPath): NameWords | undefined {
  return schemaAt(schema, path.slice(base.length));
}

/** Returns the schema of the keys of a mapping whose keys are names. */
function keySchema({ schema, base }: DocumentSchema, path: ConfigPath): NameWords | undefined {
  return schemaAt(schema, path.slice(base.length, -1))?.propertyNames;
}

/** Returns the MCP servers that an expression names. */
function serversIn(scalar: Scalar, at: ScalarPlace): readonly NameUse[] {
  return serversNamedIn(String(scalar.value)).map(({ name, start, end }) => ({
    ...{ kind: "server", name, isDeclaration: false, ...at },
    ...rangeIn(scalar, at.file, start, end),
  }));
}

function usesOf(
  scalar: Scalar,
  { declares, refersTo }: NameWords,
  { form, base }: DocumentSchema,
  at: ScalarPlace,
): readonly NameUse[] {
  const text = String(scalar.value);
  const whole = (kind: string, name: string, isDeclaration: boolean): readonly NameUse[] => [
    { kind, name, isDeclaration, ...at, ...rangeIn(scalar, at.file, 0, text.length) },
  ];
  const below = at.path.slice(base.length);
  if (!FILE_NAMES.has(form)) {
    const own = resourceOf(at, base, form);
    if (below.join(".") === "metadata.name") return whole(form, own, true);
    if (declares === "section") return whole("section", `${form} ${own}/${text}`, true);
    return refersTo === undefined ? [] : manifestReference(text, refersTo, own, at, whole);
  }
  if (declares === "listener") return whole("listener", `${String(below[1])}/${text}`, true);
  if (declares !== undefined) return whole(declares, scoped(declares, text, at), true);
  const [kind] = refersTo ?? [];
  if (kind === undefined) return [];
  const slash = text.indexOf("/");
  if (kind === "gateway" && slash > 0) {
    const gateway = { kind, name: text.slice(0, slash), isDeclaration: false, ...at };
    const listener = { kind: "listener", name: text, isDeclaration: false, ...at };
    return [
      { ...gateway, ...rangeIn(scalar, at.file, 0, slash) },
      { ...listener, ...rangeIn(scalar, at.file, slash + 1, text.length) },
    ];
  }
  return whole(kind, text, false);
}

/** Returns the name of a service with its namespace, as references have it. */
function scoped(kind: string, name: string, { file, document, path }: ScalarPlace): string {
  if (kind !== "service") return name;
  const namespace = siblingOf(file, document, path, "namespace");
  return `${namespace ?? DEFAULT_GATEWAY}/${name}`;
}

/** Returns the use of a manifest, or of a part of one, whose reference has `kind` and `namespace` next to the name. */
function manifestReference(
  text: string,
  [first = ""]: readonly string[],
  own: string,
  { file, document, path }: ScalarPlace,
  whole: (kind: string, name: string, isDeclaration: boolean) => readonly NameUse[],
): readonly NameUse[] {
  const sibling = (key: string) => siblingOf(file, document, path, key);
  const owner = first === "section" ? sibling("name") : text;
  const [ownNamespace = DEFAULT_NAMESPACE] = own.split("/");
  const written = sibling("kind");
  // Only references to Gateways have a section without a kind.
  const common = first === "section" ? "Gateway" : first;
  const row = kinds.find(
    ({ kind, names }) => kind === written || names.includes(written ?? common),
  );
  const kind = row?.kind ?? written ?? common;
  const namespace = sibling("namespace") ?? ownNamespace;
  const name = resourceKey(kind, namespace, owner ?? "");
  return first === "section"
    ? whole("section", `${kind} ${name}/${text}`, false)
    : whole(kind, name, false);
}

/** Returns the name of a resource in its scope: with its namespace, if its kind has one. */
function resourceKey(kind: string, namespace: string, name: string): string {
  const row = kinds.find((each) => each.kind === kind);
  return row?.isNamespaced === false ? name : `${namespace}/${name}`;
}

/** Namespace of manifests that name none. */
const DEFAULT_NAMESPACE = "default";

/** Returns the name of the resource at a path in its scope. */
function resourceOf({ file, document }: ScalarPlace, base: ConfigPath, kind: string): string {
  const contents = file.documents[document]?.yaml.contents;
  if (!isMap(contents)) return "";
  const namespace: unknown = contents.getIn([...base, "metadata", "namespace"]);
  const name: unknown = contents.getIn([...base, "metadata", "name"]);
  return resourceKey(kind, String(namespace ?? DEFAULT_NAMESPACE), String(name ?? ""));
}

function siblingOf(
  file: SourceFile,
  document: number,
  path: ConfigPath,
  key: string,
): string | undefined {
  const contents = file.documents[document]?.yaml.contents;
  if (!isMap(contents)) return undefined;
  const value: unknown = contents.getIn([...path.slice(0, -1), key]);
  return typeof value === "string" ? value : undefined;
}

function rangeIn(
  scalar: Scalar,
  file: SourceFile,
  from: number,
  to: number,
): Pick<NameUse, "start" | "end"> {
  const [start, end] = scalarRange(file.text, scalar, [from, to]);
  return { start, end };
}

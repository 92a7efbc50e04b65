import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  parseDocument,
} from "yaml";
import { type ConfigPath, formatPath } from "../diagnostics/diagnostic.ts";
import type { LeftPart } from "./imported-text.ts";
import { hasUser, namesCredential, publicText, withoutUser } from "./proxy/texts.ts";

/** Describes fields of a file; `file` is empty if there is only one. */
export function fieldParts(fields: readonly SourceField[], file: string): readonly LeftPart[] {
  const place = file === "" ? "line" : `${file} line`;
  return fields.map(({ path, line, text }) => ({
    place: `${place} ${line}`,
    text: `${formatPath(path)}: ${text}`,
  }));
}

/** A value in an imported file: a scalar, or an empty mapping or list. */
export interface SourceField {
  readonly path: ConfigPath;
  /** 1-based. */
  readonly line: number;
  /** The value on one line; possible credentials are redacted. */
  readonly text: string;
}

/** The fields of a YAML or JSON file (a list for several documents). Tracks which fields an import has converted, so that the others are reported. */
export class SourceFields {
  /** Parsed contents. */
  readonly value: unknown;
  /** Syntax error; `undefined` if the file is valid. */
  readonly problem: string | undefined;
  readonly fields: readonly SourceField[] = [];
  readonly #taken = new Set<SourceField>();

  /** `known` replaces the contents of the text. */
  constructor(text: string, known?: Pick<SourceFields, "value" | "fields">) {
    if (known !== undefined) {
      this.value = known.value;
      this.fields = known.fields;
      return;
    }
    const lines = new LineCounter();
    const parsed = parseAllDocuments(text, { lineCounter: lines, logLevel: "silent" });
    // An empty file parses to no documents and no errors.
    const all = "empty" in parsed ? [parseDocument(text)] : parsed;
    const [error] = all.flatMap(({ errors }) => errors);
    this.problem = error?.message.split("\n")[0];
    const isOne = all.length === 1;
    if (error !== undefined) return;
    const values = all.map((each): unknown => each.toJS({ maxAliasCount: 1000 }));
    this.value = isOne ? values[0] : values;
    this.fields = all.flatMap(({ contents }, at) => fieldsOf(contents, isOne ? [] : [at], lines));
  }

  /** Marks a path and everything below it as converted. */
  take(...path: ConfigPath): void {
    for (const field of this.#below(path)) this.#taken.add(field);
  }

  /** Returns the line of a path; 0 if it does not exist. */
  line(...path: ConfigPath): number {
    return this.#below(path)[0]?.line ?? 0;
  }

  /** Lists the fields that were not converted, in file order. */
  left(): readonly SourceField[] {
    return this.fields.filter((field) => !this.#taken.has(field));
  }

  /** Lists the fields that were converted and that are settings, in file order. */
  settings(): readonly SourceField[] {
    return this.fields.filter(
      (field) => this.#taken.has(field) && !NAMING.test(String(field.path.at(-1))),
    );
  }

  /** Returns the file without the value at a path; lines stay the same. */
  without(path: ConfigPath): SourceFields {
    return new SourceFields("", { value: withoutValue(this.value, path), fields: this.fields });
  }

  #below(path: ConfigPath): readonly SourceField[] {
    return this.fields.filter((field) => path.every((step, at) => field.path[at] === step));
  }
}

/** Fields that identify a document or what it refers to. */
const NAMING = /^(apiVersion|kind|group|name|namespace|_format_version|_transform)$/;

function withoutValue(value: unknown, [step, ...rest]: ConfigPath): unknown {
  const isLast = rest.length === 0;
  if (Array.isArray(value) && typeof step === "number")
    return isLast ? value.toSpliced(step, 1) : value.with(step, withoutValue(value[step], rest));
  if (typeof value !== "object" || value === null || step === undefined) return value;
  const entries = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    if (key !== String(step)) return [[key, each]];
    return isLast ? [] : [[key, withoutValue(each, rest)]];
  });
  return Object.fromEntries(entries);
}

function fieldsOf(node: unknown, path: ConfigPath, lines: LineCounter): readonly SourceField[] {
  if (isMap(node) && node.items.length > 0)
    return node.items.flatMap(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : String(key);
      // A key without a value has no position of its own: use the key's.
      const isEmpty = value === null || (isScalar(value) && value.source === "");
      if (isEmpty && isScalar(key)) return [fieldAt(key, [...path, name], lines, "")];
      return fieldsOf(value, [...path, name], lines);
    });
  if (isSeq(node) && node.items.length > 0)
    return node.items.flatMap((each, index) => fieldsOf(each, [...path, index], lines));
  if (isMap(node) || isSeq(node) || isScalar(node))
    return [fieldAt(node, path, lines, isScalar(node) ? String(node.value) : "{}")];
  return [];
}

function fieldAt(node: Node, path: ConfigPath, lines: LineCounter, value: string): SourceField {
  const isSecret = path.some(
    (step) => CREDENTIAL.test(String(step)) || namesCredential(String(step)),
  );
  const [start = 0] = node.range ?? [];
  const { line } = lines.linePos(start);
  if (isSecret && !REFERENCE.test(value)) return { path, line, text: "(a credential)" };
  return { path, line, text: visibleValue(value) };
}

/** Formats a value on one line, without the user and password of URLs and without likely credentials. */
function visibleValue(value: string): string {
  if (hasUser(value)) return withoutUser(value).replace(/\s+/g, " ").slice(0, 80);
  const text = publicText(value);
  return text.slice(0, 80);
}

const CREDENTIAL = /keys?$|key_?id$|secret|password|token|credential|dsn|_url$/i;
/** Values that are not credentials: names of variables, booleans, numbers, URLs without a user. */
const REFERENCE = /^(os\.environ\/|\$\{?\w+\}?$|true$|false$|\d+$|\{\}$|https?:\/\/[^@]*$)/;

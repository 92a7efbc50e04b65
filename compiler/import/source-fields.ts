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

/** What was not translated of a file, as people read it. */
export function leftParts(source: SourceFields, file = ""): readonly LeftPart[] {
  const place = file === "" ? "line" : `${file} line`;
  return source.left().map(({ path, line, text }) => ({
    place: `${place} ${line}`,
    text: `${formatPath(path)}: ${text}`,
  }));
}

/** A value of a file that is imported: a scalar, or an empty mapping or list. */
export interface SourceField {
  readonly path: ConfigPath;
  /** From 1. */
  readonly line: number;
  /** As it is written, on one line; what may be a credential is left out. */
  readonly text: string;
}

/** The fields of a YAML or JSON file (of several documents: of a list of them), and which of them an import has translated: what is left is told, line by line. */
export class SourceFields {
  /** The whole file as a value. */
  readonly value: unknown;
  /** Why it can't be read; undefined: it can. */
  readonly problem: string | undefined;
  readonly #fields: readonly SourceField[] = [];
  readonly #taken = new Set<SourceField>();

  constructor(text: string) {
    const lines = new LineCounter();
    const parsed = parseAllDocuments(text, { lineCounter: lines, logLevel: "silent" });
    // An empty file has no documents, and no errors.
    const all = "empty" in parsed ? [parseDocument(text)] : parsed;
    const [error] = all.flatMap(({ errors }) => errors);
    this.problem = error?.message.split("\n")[0];
    const isOne = all.length === 1;
    if (error !== undefined) return;
    const values = all.map((each): unknown => each.toJS({ maxAliasCount: 1000 }));
    this.value = isOne ? values[0] : values;
    this.#fields = all.flatMap(({ contents }, at) => fieldsOf(contents, isOne ? [] : [at], lines));
  }

  /** Everything at a path and below it is translated. */
  take(...path: ConfigPath): void {
    for (const field of this.#below(path)) this.#taken.add(field);
  }

  /** The line of what stands at a path; 0: nothing does. */
  line(...path: ConfigPath): number {
    return this.#below(path)[0]?.line ?? 0;
  }

  /** What was not translated, in the order of the file. */
  left(): readonly SourceField[] {
    return this.#fields.filter((field) => !this.#taken.has(field));
  }

  #below(path: ConfigPath): readonly SourceField[] {
    return this.#fields.filter((field) => path.every((step, at) => field.path[at] === step));
  }
}

function fieldsOf(node: unknown, path: ConfigPath, lines: LineCounter): readonly SourceField[] {
  if (isMap(node) && node.items.length > 0)
    return node.items.flatMap(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : String(key);
      // A key without a value stands where the key does.
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

/** On one line. A URL is without its user and password, and a text that looks like a credential is left out. */
function visibleValue(value: string): string {
  if (hasUser(value)) return withoutUser(value).replace(/\s+/g, " ").slice(0, 80);
  const text = publicText(value);
  return text.slice(0, 80);
}

const CREDENTIAL = /key|secret|password|token|credential|dsn|_url$/i;
/** A name of a variable is none. */
const REFERENCE = /^(os\.environ\/|\$\{?\w+\}?$|true$|false$|\d+$|\{\}$|https?:\/\/[^@]*$)/;

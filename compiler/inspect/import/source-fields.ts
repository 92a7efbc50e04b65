import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { ConfigPath } from "../../diagnostics/diagnostic.ts";

/** A value of a file that is imported: a scalar, or an empty mapping or list. */
export interface SourceField {
  readonly path: ConfigPath;
  /** From 1. */
  readonly line: number;
  /** As it is written, on one line; what may be a credential is left out. */
  readonly text: string;
}

/** The fields of a YAML or JSON file, and which of them an import has translated: what is left is told, line by line. */
export class SourceFields {
  /** The whole file as a value. */
  readonly value: unknown;
  /** Why it can't be read; undefined: it can. */
  readonly problem: string | undefined;
  readonly #fields: readonly SourceField[];
  readonly #taken = new Set<SourceField>();

  constructor(text: string) {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, logLevel: "silent" });
    const [error] = document.errors;
    this.problem = error?.message.split("\n")[0];
    this.value = error === undefined ? document.toJS({ maxAliasCount: 1000 }) : undefined;
    this.#fields = error === undefined ? fieldsOf(document.contents, [], lines) : [];
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
  const name = String(path.at(-1) ?? "");
  const text = CREDENTIAL.test(name) && !REFERENCE.test(value) ? "(a credential)" : value;
  const [start = 0] = node.range ?? [];
  return { path, line: lines.linePos(start).line, text: text.replace(/\s+/g, " ").slice(0, 80) };
}

const CREDENTIAL = /key|secret|password|token|credential|dsn|_url$/i;
/** A name of a variable is none. */
const REFERENCE = /^(os\.environ\/|\$|true$|false$|\d+$|https?:\/\/[^@]*$)/;

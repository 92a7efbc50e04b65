import type { Checked } from "../../compile.ts";
import { placeText } from "./route.ts";

/** Source of a generated line. */
export interface LineOrigin {
  /** Its trace comment: `HTTPRoute default/tools spec.rules[0]`. */
  readonly trace: string;
  /** FILE:LINE:COLUMN; `undefined` without a configuration. */
  readonly at: string | undefined;
}

/** Finds the trace comment of the declaration that a line of generated code (1-based) belongs to. */
export function originOfLine(
  text: string,
  line: number,
  checked: Checked | undefined,
): LineOrigin | undefined {
  const above = text.split("\n").slice(0, line);
  const comments = above.findLastIndex((each, index) => isTrace(each) && !isHeader(above, index));
  if (comments < 0) return undefined;
  const trace = (above[comments] ?? "").replace(/^\/\/ /, "").replace(/ \(line \d+\)$/, "");
  return { trace, at: checked && placeOf(trace, checked) };
}

/** Whether a line is a trace comment; comments with a rule's source are indented. */
function isTrace(line: string): boolean {
  return /^\/\/ \S+( \S+)? ?\S*$/.test(line);
}

/** Whether a comment is in the header of a module, which names inputs and not locations. */
function isHeader(lines: readonly string[], index: number): boolean {
  return lines.slice(0, index).every((line) => line.startsWith("//"));
}

/** Resolves a trace, which is a resource or file and a path in it, to FILE:LINE:COLUMN. */
function placeOf(trace: string, { kubernetes, files }: Checked): string | undefined {
  const words = trace.split(" ");
  const path = steps(words.at(-1) ?? "");
  const manifests = kubernetes?.manifests ?? [];
  const owner = words.slice(0, -1).join(" ");
  const resource = manifests.find(({ origin }) => origin.resource?.name === owner);
  if (resource !== undefined) {
    const { origin } = resource;
    return placeText({ ...origin, path: [...origin.path, ...path] }, files);
  }
  const file = files.find(({ name }) => name === owner);
  return file && placeText({ file: file.name, document: 0, path }, files);
}

/** Parses `a.b[0].c`. */
function steps(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\["([^"]+)"\]|([^.[\]]+)/g)].map(([, index, quoted, name]) =>
    index !== undefined ? Number(index) : (quoted ?? name ?? ""),
  );
}

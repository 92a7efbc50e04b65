import type { Checked } from "../../compile.ts";
import { placeText } from "./route.ts";

/** Where a generated line comes from. */
export interface LineOrigin {
  /** What the trace comment above it says: `HTTPRoute default/tools spec.rules[0]`. */
  readonly trace: string;
  /** FILE:LINE:COLUMN, when the configuration is at hand. */
  readonly at: string | undefined;
}

/** The trace comment of the declaration that a line of generated code (from 1) belongs to. */
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

/** Trace comments stand at the start of a line; a rule's source is indented. */
function isTrace(line: string): boolean {
  return /^\/\/ \S+( \S+)? ?\S*$/.test(line);
}

/** The comments at the head of a module name inputs, not places. */
function isHeader(lines: readonly string[], index: number): boolean {
  return lines.slice(0, index).every((line) => line.startsWith("//"));
}

/** The place that a trace names: a resource or a file, and a path in it. */
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

/** `a.b[0].c` as steps. */
function steps(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\["([^"]+)"\]|([^.[\]]+)/g)].map(([, index, quoted, name]) =>
    index !== undefined ? Number(index) : (quoted ?? name ?? ""),
  );
}

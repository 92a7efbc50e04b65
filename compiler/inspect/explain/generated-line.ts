import type { Checked } from "../../compile.ts";
import { PlaceNames } from "../../diagnostics/place-names.ts";
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
  // A long place continues on the next line with a dot.
  const start = above.findLastIndex((each, index) => index <= comments && !each.startsWith("// ."));
  const lines = above.slice(start, comments + 1).map((each) => each.replace(/^\/\/ /, ""));
  const trace = lines.join("").replace(/ \(line \d+\)$/, "");
  return { trace, at: checked && placeOf(trace, checked) };
}

/** Whether a line is a trace comment; comments with a rule's source are indented. */
function isTrace(line: string): boolean {
  return /^\/\/ [^\s[]+( [^\s[]+)? ?(\["(?:[^"\\]|\\.)*"\]|[^\s"])*( \(line \d+\))?$/.test(line);
}

/** Whether a comment is in the header of a module, which names inputs and not locations. */
function isHeader(lines: readonly string[], index: number): boolean {
  return lines.slice(0, index).every((line) => line.startsWith("//"));
}

/** Resolves a trace, which is a resource or file and a path in it, to FILE:LINE:COLUMN. */
function placeOf(trace: string, { kubernetes, files }: Checked): string | undefined {
  const places = new PlaceNames(files);
  const owners = [
    ...(kubernetes?.manifests ?? []).map(({ origin }) => ({ name: origin.resource?.name, origin })),
    ...files.map(({ name }) => ({ name, origin: { file: name, document: 0, path: [] } })),
  ];
  const owner = owners.find(({ name }) => trace === name || trace.startsWith(`${name} `));
  if (owner === undefined) return undefined;
  const { name = "", origin } = owner;
  const path = places.pathOf(trace.slice(name.length).trim(), origin);
  return placeText({ ...origin, path }, files);
}

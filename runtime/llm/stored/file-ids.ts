import {
  elementsOf,
  isArrayAt,
  isObjectAt,
  type Member,
  objectMembers,
  skipSpace,
  stringAt,
  type TextRange,
} from "../../json/json-text.ts";
import type { FileKind } from "./stored-ids.ts";

/** How the messages of a vendor name files. */
export interface FileNames {
  readonly kind: FileKind;
  /** Members in which ids are no references. */
  readonly otherMembers: ReadonlySet<string>;
  /** Files that programs of the model write; absent if its messages do not name them. */
  readonly written?: {
    /** Matches the types of objects that name such a file. */
    readonly types: RegExp;
    /** Word in each request whose response may have them. */
    readonly requestedBy: string;
  };
}

/** OpenAI's ids, except for what models have cited and found, fields of the client, and schemas. */
export const OPENAI_FILES: FileNames = {
  kind: "file-",
  otherMembers: new Set([
    ...["annotations", "results", "attributes", "metadata", "client_metadata"],
    ...["parameters", "schema"],
  ]),
};

/** Anthropic's ids, except for inputs and schemas of tools, and fields of the client. */
export const ANTHROPIC_FILES: FileNames = {
  kind: "file_",
  otherMembers: new Set(["input", "input_schema", "input_examples", "schema", "metadata"]),
  written: { types: /_output$/, requestedBy: "code_execution" },
};

/** Place of an id of a file in a text. */
export interface FileId extends TextRange {
  readonly id: string;
  /** Whether a program of the model has written the file. */
  readonly isWritten: boolean;
}

/** Finds the ids of files in a JSON text: values of `file_id` and `file_ids`, at any depth. */
export function fileIdsIn(text: string, names: FileNames): readonly FileId[] {
  // Fast path: most messages name no file.
  if (!text.includes("file_id") && !text.includes("\\u")) return [];
  const found: FileId[] = [];
  findIds(text, { at: skipSpace(text, 0), depth: 0 }, names, found);
  return found;
}

/** Maximum depth of messages in which ids are looked for. Requests that are deeper are refused before. */
const MAX_DEPTH = 256;

/** A value in a text. */
interface ValuePlace {
  readonly at: number;
  readonly depth: number;
}

function findIds(text: string, { at, depth }: ValuePlace, names: FileNames, found: FileId[]): void {
  if (depth > MAX_DEPTH) return;
  const inside = (start: number) => findIds(text, { at: start, depth: depth + 1 }, names, found);
  if (isArrayAt(text, at)) for (const { start } of elementsOf(text, at)) inside(start);
  if (!isObjectAt(text, at)) return;
  const members = objectMembers(text, at);
  const isWritten = namesWritten(text, members, names);
  for (const { key, start, end } of members) {
    if (names.otherMembers.has(key)) continue;
    const values = key === "file_ids" && isArrayAt(text, start) ? elementsOf(text, start) : [];
    for (const range of key === "file_id" ? [{ start, end }] : values) {
      const id = stringAt(text, range);
      if (id !== undefined) found.push({ ...range, id, isWritten });
    }
    inside(start);
  }
}

/** Whether an object names a file that a program has written. */
function namesWritten(text: string, members: readonly Member[], { written }: FileNames): boolean {
  const types = members.filter(({ key }) => key === "type");
  // A repeated member may mean either value.
  return (
    types.length === 1 && types.every((type) => written?.types.test(stringAt(text, type) ?? ""))
  );
}

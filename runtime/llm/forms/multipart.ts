import { isUtf8 } from "node:buffer";
import { LlmRefusal } from "../chat/llm-error.ts";
import { readPartHead } from "./part-head.ts";

/** A form: `multipart/form-data` (RFC 7578). */
export interface Form {
  readonly bytes: Buffer;
  readonly boundary: string;
  readonly parts: readonly FormPart[];
}

/** One part of a form. Positions are those of bytes in the form. */
export interface FormPart {
  readonly name: string;
  readonly isFile: boolean;
  /** Start of its head, after the boundary. */
  readonly head: number;
  /** Start and end of its value. */
  readonly start: number;
  readonly end: number;
}

/** Maximum number of parts: those of an API, and files. */
const MAX_PARTS = 128;

/** Maximum size of the head of a part, in bytes. */
const MAX_HEAD = 8192;

const CRLF = "\r\n";

/**
 * Parses a form. Throws LlmRefusal for anything that servers may read differently, so that the provider reads the same fields
 * as the policies do.
 */
export function parseForm(bytes: Buffer, boundary: string): Form {
  const mark = `--${boundary}`;
  const parts: FormPart[] = [];
  let at = 0;
  if (!isAt(bytes, 0, mark)) throw broken("it does not start with its boundary");
  for (;;) {
    at += mark.length;
    if (isAt(bytes, at, "--")) break;
    if (!isAt(bytes, at, CRLF)) throw broken("a boundary is not followed by a line break");
    if (parts.length === MAX_PARTS) throw broken(`it has more than ${MAX_PARTS} parts`);
    const head = at + CRLF.length;
    const next = bytes.indexOf(mark, head);
    if (next === -1) throw broken("its end is missing");
    // Servers that split lines at a line feed alone would find a part here.
    if (!isAt(bytes, next - CRLF.length, CRLF)) throw broken("a part contains the boundary");
    parts.push(readPart(bytes, head, next - CRLF.length));
    at = next;
  }
  const rest = bytes.subarray(at + "--".length).toString("latin1");
  if (rest !== "" && rest !== CRLF) throw broken("something follows its end");
  return { bytes, boundary, parts };
}

/** Returns the text of a part. Throws LlmRefusal if it is not UTF-8. */
export function partText({ bytes }: Form, { name, start, end }: FormPart): string {
  const value = bytes.subarray(start, end);
  if (!isUtf8(value)) throw broken(`"${name}" is not UTF-8`, name);
  return value.toString("utf8");
}

function readPart(bytes: Buffer, head: number, end: number): FormPart {
  const blank = bytes.indexOf(CRLF + CRLF, head);
  if (blank === -1 || blank > end || blank - head > MAX_HEAD) throw broken("a part has no head");
  const start = blank + CRLF.length * 2;
  // The line break in front of a boundary is not part of a value.
  if (start > end) throw broken("a part has no value");
  const found = readPartHead(bytes.subarray(head, blank).toString("latin1"));
  if (typeof found === "string") throw broken(found);
  return { ...found, head, start, end };
}

function isAt(bytes: Buffer, at: number, text: string): boolean {
  return at >= 0 && bytes.toString("latin1", at, at + text.length) === text;
}

/** Returns the refusal of a form that cannot be read with certainty. */
export function broken(what: string, field?: string): LlmRefusal {
  return new LlmRefusal({ kind: "invalid", message: `the form cannot be read: ${what}`, field });
}

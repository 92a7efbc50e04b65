import type { Exchange } from "../../http/exchange.ts";
import { type ChatCall, readCall, readCallOf, wrongType } from "../calls/chat-call.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { broken, type Form, parseForm, partText } from "./multipart.ts";

/**
 * Reads a call whose body is a form. The call has its fields as JSON, without the files; the form itself is its `sent`
 * bytes. Throws LlmRefusal.
 */
export function readFormCall(exchange: Exchange): ChatCall {
  const boundary = boundaryOf(exchange);
  if (boundary === undefined) throw wrongType("multipart/form-data");
  const bytes = bufferOf(exchange.bufferedBody ?? new Uint8Array());
  const fields = fieldsOfForm(parseForm(bytes, boundary));
  const json = JSON.stringify(Object.fromEntries(fields));
  const call = readCallOf(exchange, Buffer.from(json));
  return call.with({ sent: { text: call.text, bytes } });
}

/** Reads a call whose body is a form, or the same fields as JSON. Throws LlmRefusal. */
export function readFormOrJsonCall(exchange: Exchange): ChatCall {
  if (boundaryOf(exchange) !== undefined) return readFormCall(exchange);
  const type = exchange.header("content-type") ?? "";
  if (/^application\/json\s*(?:;|$)/i.test(type)) return readCall(exchange);
  throw wrongType("multipart/form-data or application/json");
}

/** Returns the boundary of a form; `undefined` if the body is not a form. Throws LlmRefusal if it is unclear. */
export function boundaryOf(exchange: Exchange): string | undefined {
  const type = exchange.header("content-type") ?? "";
  const [start = ""] = /^multipart\/form-data\s*/i.exec(type) ?? [];
  if (start === "") return undefined;
  const [boundary, ...others] = type.slice(start.length).matchAll(/;\s*boundary=([^;]*)/gi);
  const value = boundary?.[1]?.trim().replace(/^"(.*)"$/, "$1") ?? "";
  if (others.length > 0 || !BOUNDARY.test(value)) throw broken("its boundary is unclear");
  return value;
}

/** RFC 2046, without the characters that require quotes in some servers. */
const BOUNDARY = /^[\w'()+,./:=?-]{1,70}$/;

/** Returns the fields of a form as members of an object. A name that ends in `[]` has a list. Throws LlmRefusal. */
export function fieldsOfForm(form: Form): ReadonlyMap<string, unknown> {
  const fields = new Map<string, string[]>();
  for (const part of form.parts) {
    const { name, isFile } = part;
    if (isFile !== isFileName(name)) {
      throw broken(isFile ? `"${name}" is not a file` : `"${name}" has no file name`, name);
    }
    if (isFile) continue;
    const values = fields.get(name) ?? [];
    if (values.length > 0 && !isList(name)) throw broken(`"${name}" occurs twice`, name);
    fields.set(name, [...values, partText(form, part)]);
  }
  refuseAmbiguous([...fields.keys()]);
  return new Map([...fields].map(([name, values]) => [name, fieldValue(name, values)]));
}

/** Refuses names that servers read differently: some take the last of `model` and `model[]`, or decode values by `_charset_`. */
function refuseAmbiguous(names: readonly string[]): void {
  const plain = new Set(names.map((name) => name.toLowerCase()));
  if (plain.has("_charset_")) throw broken('"_charset_" is not supported');
  const twice = names.find((name) => {
    const [start = ""] = name.split("[");
    return start !== name && plain.has(start.toLowerCase());
  });
  if (twice !== undefined) throw broken(`"${twice}" occurs without brackets, too`, twice);
}

/** Whether a field of these APIs is a file: one of OpenAI's audio, images and files. */
function isFileName(name: string): boolean {
  return /^(?:file|image|mask)(?:\[\d*\])?$/.test(name);
}

/** Whether a field may occur several times. */
export function isList(name: string): boolean {
  return name.endsWith("[]");
}

function fieldValue(name: string, values: readonly string[]): unknown {
  if (isList(name)) return values;
  const [value = ""] = values;
  if (name !== "stream") return value;
  if (value !== "true" && value !== "false") throw broken('"stream" must be true or false', name);
  return value === "true";
}

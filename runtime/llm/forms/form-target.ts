import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../cel/variables.ts";
import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { Exchange } from "../../http/exchange.ts";
import { editedObject } from "../calls/chat-call.ts";
import { type NativeSettings, nativeTarget } from "../calls/native-target.ts";
import type { LlmTarget } from "../calls/target.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { boundaryOf, fieldsOfForm, isList } from "./form-call.ts";
import { broken, type Form, parseForm } from "./multipart.ts";
import { isPlainName } from "./part-head.ts";

/** Creates a target for a provider that gets forms. Parts that are not changed pass as they are. */
export function formTarget(settings: NativeSettings): LlmTarget {
  const target = nativeTarget(settings);
  return {
    ...target,
    typeOf: (exchange) => formType(exchange),
    requestBody: (call, body, exchange) => {
      const boundary = boundaryOf(exchange);
      if (boundary === undefined) return target.requestBody(call, body, exchange);
      const { bytes } = call.sent;
      if (body.toString() === call.sent.text) return bytes;
      const form = parseForm(bufferOf(bytes), boundary);
      return rewrittenForm(form, editedObject(call, body), exchange.newBuffer());
    },
  };
}

function formType(exchange: Exchange): string | undefined {
  return boundaryOf(exchange) === undefined ? undefined : exchange.header("content-type");
}

/**
 * Returns the form with the values of `edited` as its fields; others are left out. Throws LlmRefusal if a value contains the
 * boundary.
 */
export function rewrittenForm(form: Form, edited: JsonObject, copy: CountedBuffer): Buffer {
  const { bytes, boundary, parts } = form;
  const fields = fieldsOfForm(form);
  const add = (...pieces: readonly Buffer[]): void => {
    for (const piece of pieces) if (!copy.push(piece)) throw noRoom;
  };
  for (const [name, value] of Object.entries(edited)) {
    if (value === null || isSame(value, fields.get(name))) continue;
    add(...partsOf(name, value, boundary));
  }
  for (const { name, isFile, head, end } of parts) {
    if (!isFile && !isSame(edited[name], fields.get(name))) continue;
    add(Buffer.from(`--${boundary}\r\n`), bytes.subarray(head, end), Buffer.from("\r\n"));
  }
  add(Buffer.from(`--${boundary}--\r\n`));
  return copy.bytes();
}

const noRoom = new LlmRefusal({
  kind: "overloaded",
  message: "too many request bodies at once",
});

function isSame(one: unknown, other: unknown): boolean {
  return one !== undefined && isDeepStrictEqual(one, other);
}

function partsOf(name: string, value: unknown, boundary: string): readonly Buffer[] {
  // Of a configuration, or changed by a guard.
  if (!isPlainName(name)) throw broken("the name of a field is not plain", name);
  const values: readonly unknown[] = isList(name) && Array.isArray(value) ? value : [value];
  return values.map((each) => {
    const text = typeof each === "string" ? each : JSON.stringify(each);
    if (text.includes(`--${boundary}`)) throw broken("its boundary occurs in a field", name);
    const head = `Content-Disposition: form-data; name="${name}"`;
    return Buffer.from(`--${boundary}\r\n${head}\r\n\r\n${text}\r\n`);
  });
}

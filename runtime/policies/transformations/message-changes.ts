import { toJson } from "../../cel/functions/json.ts";
import type { ResponseVariables } from "../../cel/variables.ts";

/** What becomes of a message. Values are the ones of expressions: undefined is a failure. */
export interface MessageChanges {
  /**
   * A map of headers instead of all there are; a failure removes those of a request and leaves those of a response. Comes before
   * the others.
   */
  readonly replace?: unknown;
  /** Are added to the headers of their name (lower case); one that fails is left out. */
  readonly add: readonly HeaderValue[];
  /** Replace the headers of their name; one that fails removes them. */
  readonly set: readonly HeaderValue[];
  readonly remove: readonly string[];
  /** The whole body, when there is this member: text or bytes as they are, anything else as JSON; a failure is empty. */
  readonly body?: unknown;
}

/** A lower-case name and the value of its expression. */
export type HeaderValue = readonly [name: string, value: unknown];

/** Changes of a request; a pseudo header that fails stays as it is. A value that it can't have refuses the request. */
export interface RequestChanges extends MessageChanges {
  readonly method?: unknown;
  readonly path?: unknown;
  readonly authority?: unknown;
  readonly scheme?: unknown;
}

/** Changes of a response; a status that is none from 200 to 599 stays as it is. */
export interface ResponseChanges extends MessageChanges {
  readonly status?: unknown;
}

/** What a response becomes, by what it is. */
export type ResponseTransform = (response: ResponseVariables) => ResponseChanges;

/** The bytes of a body that an expression made. */
export function bodyBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const text = typeof value === "string" ? value : (toJson(value) ?? "");
  return Buffer.from(text);
}

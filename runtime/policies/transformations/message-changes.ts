import { toJson } from "../../cel/functions/json.ts";
import type { ResponseVariables } from "../../cel/variables.ts";

/** Changes of a message. The values come from expressions; `undefined` means that the expression failed. */
export interface MessageChanges {
  /**
   * A map that replaces all headers. If it fails, a request loses its headers and a response keeps them. Applied before the
   * other changes.
   */
  readonly replace?: unknown;
  /** Added to the headers of the same name (lower case); failed values are omitted. */
  readonly add?: readonly HeaderValue[];
  /** Replace the headers of the same name; a failed value removes them. */
  readonly set?: readonly HeaderValue[];
  readonly remove?: readonly string[];
  /** Replaces the body if this member is present: strings and bytes as they are, other values as JSON; empty if it failed. */
  readonly body?: unknown;
}

/** A lower-case name and the value of its expression. */
export type HeaderValue = readonly [name: string, value: unknown];

/** Changes of a request. A failed pseudo header changes nothing; an invalid one refuses the request. */
export interface RequestChanges extends MessageChanges {
  readonly method?: unknown;
  readonly path?: unknown;
  readonly authority?: unknown;
  readonly scheme?: unknown;
}

/** Changes of a response. A status outside 200 to 599 changes nothing. */
export interface ResponseChanges extends MessageChanges {
  readonly status?: unknown;
}

/** Returns the changes of a response. */
export type ResponseTransform = (response: ResponseVariables) => ResponseChanges;

/** Converts the value of an expression to the bytes of a body. */
export function bodyBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const text = typeof value === "string" ? value : (toJson(value) ?? "");
  return Buffer.from(text);
}

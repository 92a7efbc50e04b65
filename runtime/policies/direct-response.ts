import type { Exchange } from "../http/exchange.ts";
import { fieldValue } from "./transformations/field-value.ts";
import { bodyBytes, type HeaderValue } from "./transformations/message-changes.ts";

/** A response head that is fixed when the gateway starts. */
export interface ResponseHead {
  readonly status: number;
  /** A flat list. */
  readonly headers: readonly string[];
}

/** A response that is fixed when the gateway starts. */
export interface DirectResponse extends ResponseHead {
  /** Empty if there is no body. */
  readonly body: string;
}

/** Answers the request. */
export function respondDirectly(exchange: Exchange, response: DirectResponse): void {
  exchange.record.reason = "DirectResponse";
  exchange.respond(response.status, response.headers, response.body);
}

/** Parts of a response that are computed for each request. */
export interface ComputedParts {
  /** Headers in addition to the fixed ones; failed values are omitted. */
  readonly headers?: readonly HeaderValue[];
  /** Replaces the fixed body; empty if its expression failed. */
  readonly body?: unknown;
}

/** Answers the request with parts from expressions. */
export function respondWith(
  exchange: Exchange,
  response: ResponseHead | DirectResponse,
  computed: ComputedParts,
): void {
  exchange.record.reason = "DirectResponse";
  const added = (computed.headers ?? []).flatMap(([name, value]) => {
    const text = fieldValue(value);
    return text === undefined ? [] : [name, text];
  });
  const body = "body" in response ? response.body : bodyBytes(computed.body);
  exchange.respond(response.status, [...response.headers, ...added], body);
}

import type { Exchange } from "../http/exchange.ts";
import { bodyBytes } from "./transformations/message-changes.ts";

/** The head of a response that is known when the gateway starts. */
export interface ResponseHead {
  readonly status: number;
  /** A flat list. */
  readonly headers: readonly string[];
}

/** A response that is known when the gateway starts. */
export interface DirectResponse extends ResponseHead {
  /** Empty: none. */
  readonly body: string;
}

/** Answers the request. */
export function respondDirectly(exchange: Exchange, response: DirectResponse): void {
  exchange.record.reason = "DirectResponse";
  exchange.respond(response.status, response.headers, response.body);
}

/** Answers the request with a body that an expression made; a failure is an empty one. */
export function respondWith(exchange: Exchange, response: ResponseHead, body: unknown): void {
  exchange.record.reason = "DirectResponse";
  exchange.respond(response.status, response.headers, bodyBytes(body));
}

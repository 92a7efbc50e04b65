import type { Exchange } from "../http/exchange.ts";
import { bodyBytes } from "./transformations/message-changes.ts";

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

/** Answers the request with a body from an expression; empty if it failed. */
export function respondWith(exchange: Exchange, response: ResponseHead, body: unknown): void {
  exchange.record.reason = "DirectResponse";
  exchange.respond(response.status, response.headers, bodyBytes(body));
}

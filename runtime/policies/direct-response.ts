import type { Exchange } from "../http/exchange.ts";
import { bodyBytes } from "./transformations/message-changes.ts";

/** The head of an answer that is known when the gateway starts. */
export interface AnswerHead {
  readonly status: number;
  /** A flat list. */
  readonly headers: readonly string[];
}

/** An answer that is known when the gateway starts. */
export interface DirectResponse extends AnswerHead {
  /** Empty: none. */
  readonly body: string;
}

/** Answers the request. */
export function respondDirectly(exchange: Exchange, answer: DirectResponse): void {
  exchange.record.reason = "DirectResponse";
  exchange.respond(answer.status, answer.headers, answer.body);
}

/** Answers the request with a body that an expression made; a failure is an empty one. */
export function respondWith(exchange: Exchange, answer: AnswerHead, body: unknown): void {
  exchange.record.reason = "DirectResponse";
  exchange.respond(answer.status, answer.headers, bodyBytes(body));
}

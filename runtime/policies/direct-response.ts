import type { Exchange } from "../http/exchange.ts";

/** An answer that is known when the gateway starts. */
export interface DirectResponse {
  readonly status: number;
  /** A flat list. */
  readonly headers: readonly string[];
  /** Empty: none. */
  readonly body: string;
}

/** Answers the request. */
export function respondDirectly(exchange: Exchange, answer: DirectResponse): void {
  exchange.record.reason = "DirectResponse";
  exchange.respond(answer.status, answer.headers, answer.body);
}

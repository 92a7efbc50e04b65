import type { RefusalFormat } from "../../refusal-format.ts";
import { refuse } from "../../refuse.ts";
import { countExchange, exchangeOf, factsOf } from "../accept-request.ts";
import type { EngineRequest, EngineResponse, Framing } from "../engine.ts";
import type { RequestPort } from "../server-handlers.ts";

/** A request that was handed over, with what its own thread knows of it. */
export interface GivenRequest {
  readonly request: EngineRequest;
  readonly response: EngineResponse;
  readonly framing: Framing;
  /** Time of the handover in milliseconds of the monotonic clock. */
  readonly givenAt: number;
}

/**
 * Ends a request whose thread has ended. Only this thread can log and count it, and its progress is unknown. It is not retried,
 * because it may have been executed. `isResponded`: whether the whole response was given.
 */
export function endLost(
  { request, response, framing, givenAt }: GivenRequest,
  port: RequestPort,
  refusalFormat: RefusalFormat,
  isResponded: boolean,
): void {
  const handlers = port.handlers();
  const facts = factsOf(request, handlers);
  const exchange = exchangeOf(request, response, framing, facts, port.gateway);
  countExchange(exchange, response, handlers, givenAt);
  if (isResponded) return;
  exchange.refusalFormat = refusalFormat;
  if (response.headersSent) {
    exchange.record.reason = "Internal";
    exchange.abort();
    return;
  }
  refuse(exchange, 500, "Internal", DETAIL);
  request.discard();
}

const DETAIL = "The gateway lost this request; it may have been executed";

import type { Exchange } from "../exchange.ts";
import { withoutHeaders } from "../headers/header-list.ts";
import { acceptRequest } from "./accept-request.ts";
import { EngineExchange } from "./engine-exchange.ts";
import {
  type InnerCall,
  type InnerListener,
  InnerRequest,
  InnerResponse,
} from "./inner-request.ts";

/**
 * Serves a part of a request's body as a request of its own: with the head as the client sent it, and with the rules, limits,
 * metrics and the log of its port.
 */
export function servePart(
  exchange: Exchange,
  body: Uint8Array,
  listener: InnerListener,
): InnerCall {
  if (!(exchange instanceof EngineExchange) || exchange.port === undefined)
    throw new Error("the request was not received by a port");
  const { method, url, rawHeaders, httpVersion, socket } = exchange.received;
  const headers = withoutHeaders(rawHeaders, WHOLE_ONLY);
  headers.push("content-length", String(body.length));
  const response = new InnerResponse(listener);
  const request = new InnerRequest({ method, url, headers, body, httpVersion, socket });
  acceptRequest(request, response, {}, exchange.port);
  return response;
}

/** Fields that describe the body of the whole request and how it is sent. */
const WHOLE_ONLY: ReadonlySet<string> = new Set([
  "content-length",
  "transfer-encoding",
  "trailer",
  "te",
  "expect",
  "connection",
  "keep-alive",
  "upgrade",
]);

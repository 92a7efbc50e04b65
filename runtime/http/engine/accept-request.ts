import type { GatewayContext } from "../../process/gateway-context.ts";
import { UnusableFile } from "../../process/unusable-file.ts";
import { AmbiguousRequest } from "../ambiguous-request.ts";
import { logFields } from "../exchange.ts";
import { refuse } from "../refuse.ts";
import type { EngineRequest, EngineResponse, Framing } from "./engine.ts";
import { EngineExchange } from "./engine-exchange.ts";
import type { RequestPort, ServerHandlers } from "./server-handlers.ts";
import {
  absoluteFacts,
  authorityFacts,
  type FramingFields,
  framingFields,
  type RequestFacts,
  type RequestFault,
  readAbsoluteForm,
  validateRequest,
} from "./validate-request.ts";

/** Validates a request, creates its exchange, handles it and counts it. */
export function acceptRequest(
  request: EngineRequest,
  response: EngineResponse,
  framing: Framing,
  port: RequestPort,
): void {
  const handlers = port.handlers();
  const facts = factsOf(request, handlers);
  const exchange = exchangeOf(request, response, framing, facts, port.gateway);
  exchange.port = port;
  exchange.minBodyRate = handlers.connections.minBodyRate;
  exchange.expectsContinue = framing.expectsContinue ?? expectsContinue(exchange, framing);
  if (response.upgrade !== undefined || response.tunnel !== undefined) exchange.closeConnection();
  countExchange(exchange, response, handlers, exchange.started);
  if (!("host" in facts)) {
    exchange.closeConnection();
    refuse(exchange, facts.status, "BadRequest", facts.detail);
    return;
  }
  if (exchange.target === "*") {
    // OPTIONS for the server itself (RFC 9110 9.3.7) concerns no route and needs no content.
    exchange.respond(204, []);
    return;
  }
  try {
    const handled = handlers.handle(exchange);
    if (handled !== undefined) handled.catch((error) => fail(handlers, exchange, error));
  } catch (error) {
    fail(handlers, exchange, error);
  }
}

/** Returns the validated facts of a request, or why it is refused. */
export function factsOf(
  request: EngineRequest,
  { isForwardProxy, keepsPaths, connections: { maxHeaders } }: ServerHandlers,
): RequestFacts | RequestFault {
  const { method, url, httpVersion } = request;
  const fields = request.fields ?? framingFields(request.rawHeaders);
  if (method === "CONNECT") return tunnelFacts(url, httpVersion, fields, maxHeaders);
  // HTTP/2 has the host in a field of its own (RFC 9113 8.3.1).
  const isPossible = isForwardProxy && httpVersion !== "2";
  const absolute = isPossible ? readAbsoluteForm(url) : undefined;
  const target = absolute?.target ?? url;
  const facts = validateRequest(method, target, httpVersion, fields, {
    maxHeaders,
    keepsPaths,
  });
  return absolute === undefined ? facts : absoluteFacts(facts, absolute);
}

/** Creates the exchange of a request; `facts`: result of `factsOf`. */
export function exchangeOf(
  request: EngineRequest,
  response: EngineResponse,
  framing: Framing,
  facts: RequestFacts | RequestFault,
  gateway: GatewayContext,
): EngineExchange {
  const isServed = "host" in facts;
  const known = isServed ? framed(facts, framing) : { ...malformed, target: request.url };
  return new EngineExchange(request, response, known, gateway);
}

/** Reports the start of an exchange, and later its end. `started`: milliseconds of the monotonic clock. */
export function countExchange(
  exchange: EngineExchange,
  response: EngineResponse,
  handlers: ServerHandlers,
  started: number,
): void {
  response.on("close", () => {
    if (!response.writableFinished) exchange.clientLeft();
    const status = response.headersSent ? response.statusCode : undefined;
    handlers.ended(exchange, status, performance.now() - started);
    exchange.close();
  });
  handlers.began(exchange);
}

/** Returns the facts of a CONNECT request, which names a host and port and no path (RFC 9112 3.2.3). */
function tunnelFacts(
  url: string,
  httpVersion: string,
  fields: FramingFields,
  maxHeaders: number,
): RequestFacts | RequestFault {
  const facts = validateRequest("CONNECT", "/", httpVersion, fields, {
    maxHeaders,
    keepsPaths: false,
  });
  if ("host" in facts && facts.hasBody) return { status: 400, detail: "a tunnel has no body" };
  return authorityFacts(facts, url);
}

/** Facts of a malformed request, whose target is only logged. */
const malformed = {
  host: "",
  target: "",
  sentTarget: "",
  hasAmbiguousPath: false,
  length: undefined,
  hasBody: false,
  namesConnectionHeaders: false,
};

/** Replaces the length by HTTP/2's own framing; a contradicting length was refused before. */
function framed(facts: RequestFacts, { hasBody }: Framing): RequestFacts {
  if (hasBody === undefined || hasBody === facts.hasBody) return facts;
  return { ...facts, hasBody, length: hasBody ? facts.length : undefined };
}

/** Whether an HTTP/2 client waits for a 100; its framing says whether a body follows. */
function expectsContinue(exchange: EngineExchange, { hasBody }: Framing): boolean {
  return hasBody === true && exchange.header("expect")?.toLowerCase() === "100-continue";
}

function fail(handlers: ServerHandlers, exchange: EngineExchange, error: unknown): void {
  if (error instanceof AmbiguousRequest && !exchange.headersSent) {
    refuse(exchange, 400, "BadRequest", error.message);
    return;
  }
  if (error instanceof UnusableFile) logFields(exchange.record).set("error", error.message);
  else handlers.failed(exchange, error);
  if (!exchange.headersSent) {
    refuse(exchange, 500, "Internal", "internal error");
    return;
  }
  exchange.record.reason = "Internal";
  exchange.abort();
}

import type { GatewayContext } from "../../gateway/context.ts";
import { refuse } from "../refuse.ts";
import { absoluteFacts, readAbsoluteForm } from "./absolute-form.ts";
import type { WireAnswer, WireRequest } from "./engine.ts";
import { NodeExchange } from "./node/node-exchange.ts";
import type { ServerBehaviour } from "./node/server-handlers.ts";
import { checkRequest, type RequestFacts, type RequestFault } from "./validate-request.ts";

/** What an engine knows of a request beyond its head. */
export interface Framing {
  /** HTTP/2: whether a body follows. */
  readonly hasBody?: boolean;
  /** HTTP/1.1: node has seen `Expect: 100-continue`. */
  readonly expectsContinue?: boolean;
}

/** Where a request came in. */
export interface RequestPort {
  readonly behaviour: () => ServerBehaviour;
  readonly gateway: GatewayContext;
  /** The exchange has ended. */
  readonly ended: () => void;
}

/** Makes an exchange of a request and sees it through: checked, handled, counted. */
export function takeRequest(
  request: WireRequest,
  answer: WireAnswer,
  framing: Framing,
  port: RequestPort,
): void {
  const started = performance.now();
  const behaviour = port.behaviour();
  const facts = factsOf(request, behaviour);
  const isServed = "host" in facts;
  const exchange = new NodeExchange(
    request,
    answer,
    isServed ? framed(facts, framing) : malformed,
    port.gateway,
  );
  answer.on("close", () => {
    if (!answer.writableFinished) exchange.clientLeft();
    const status = answer.headersSent ? answer.statusCode : undefined;
    behaviour.ended(exchange, status, performance.now() - started);
    port.ended();
  });
  exchange.expectsContinue = framing.expectsContinue ?? expectsContinue(exchange, framing);
  if (answer.upgrade !== undefined) exchange.closesConnection = true;
  if (!isServed) {
    exchange.closesConnection = true;
    refuse(exchange, facts.status, "BadRequest", facts.detail);
    return;
  }
  if (exchange.target === "*") {
    // OPTIONS of the server itself (RFC 9110 9.3.7): no route is asked, and there is nothing to say.
    exchange.respond(204, []);
    return;
  }
  try {
    const handled = behaviour.handle(exchange);
    if (handled !== undefined) handled.catch((error) => fail(behaviour, exchange, error));
  } catch (error) {
    fail(behaviour, exchange, error);
  }
}

function factsOf(
  { method = "", url = "", httpVersion, rawHeaders }: WireRequest,
  { isForwardProxy, connections: { maxHeaders } }: ServerBehaviour,
): RequestFacts | RequestFault {
  // HTTP/2 has the host in a field of its own (RFC 9113 8.3.1).
  const isPossible = isForwardProxy && httpVersion !== "2";
  const absolute = isPossible ? readAbsoluteForm(url) : undefined;
  const target = absolute?.target ?? url;
  const facts = checkRequest(method, target, httpVersion, rawHeaders, maxHeaders);
  return absolute === undefined ? facts : absoluteFacts(facts, absolute);
}

/** Stands for the facts of a request that has none. */
const malformed = { host: "", length: undefined, hasBody: false, namesConnectionHeaders: false };

/** HTTP/2 has its own framing; a length that it contradicts was refused. */
function framed(facts: RequestFacts, { hasBody }: Framing): RequestFacts {
  if (hasBody === undefined || hasBody === facts.hasBody) return facts;
  return { ...facts, hasBody, length: hasBody ? facts.length : undefined };
}

/** Node looks for the expectation in HTTP/1.1 only. */
function expectsContinue(exchange: NodeExchange, { hasBody }: Framing): boolean {
  return hasBody === true && exchange.header("expect")?.toLowerCase() === "100-continue";
}

function fail(behaviour: ServerBehaviour, exchange: NodeExchange, error: unknown): void {
  behaviour.failed(exchange, error);
  if (!exchange.isAnswered) {
    refuse(exchange, 500, "Internal", "internal error");
    return;
  }
  exchange.record.reason = "Internal";
  exchange.abort();
}

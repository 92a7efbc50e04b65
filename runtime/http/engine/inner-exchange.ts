import { type Exchange, logFields, type RequestAttributes } from "../exchange.ts";
import { headerValue } from "../headers/header-list.ts";
import type { UpstreamCall } from "../upstream/upstream.ts";
import { EngineExchange } from "./engine-exchange.ts";
import {
  type InnerCall,
  type InnerListener,
  InnerRequest,
  InnerResponse,
} from "./inner-request.ts";
import { type InnerUpgrade, innerUpgrade } from "./inner-tunnel.ts";

/** A call to a server as an exchange of its own, so that policies can act on it. */
export interface CallExchange {
  readonly exchange: Exchange;
  /** The call, to abort it and to resume its response. */
  readonly call: InnerCall;
}

/**
 * Creates an exchange for a call that another exchange causes. It shares the log fields, the attributes and the trace of that
 * exchange. Its response goes to `listener`. `upgrade`: the protocol that the call asks for; absent for HTTP.
 */
export function callExchange(
  outer: Exchange,
  { method, path, headers, body }: UpstreamCall,
  listener: InnerListener,
  upgrade?: InnerUpgrade,
): CallExchange {
  if (!(outer instanceof EngineExchange)) throw new Error("the exchange has no connection");
  const { httpVersion, socket } = outer.received;
  const request = new InnerRequest({ method, url: path, headers, body, httpVersion, socket });
  const call = new InnerResponse(listener, upgrade && innerUpgrade(upgrade));
  const exchange = new InnerExchange(outer, request, call);
  call.on("close", () => {
    if (!call.writableFinished) exchange.clientLeft();
    exchange.close();
  });
  return { exchange, call };
}

class InnerExchange extends EngineExchange {
  readonly #outer: EngineExchange;

  constructor(outer: EngineExchange, request: InnerRequest, response: InnerResponse) {
    const { url, length, rawHeaders } = request;
    const facts = {
      ...{ target: url, sentTarget: url, hasAmbiguousPath: false, namesConnectionHeaders: false },
      host: headerValue(rawHeaders, "host") ?? "",
      length,
      hasBody: length !== 0,
    };
    super(request, response, facts, outer.gateway);
    this.#outer = outer;
    this.trace = outer.trace;
    this.record.fields = logFields(outer.record);
  }

  override get attributes(): RequestAttributes {
    return this.#outer.attributes;
  }
}

import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { ChatCall } from "./chat-call.ts";
import type { TransformedRequest } from "./transform-fields.ts";

/** A call as expressions read it. Parses its body on access. */
export class RequestOfCall implements TransformedRequest {
  readonly request: Exchange;
  readonly #call: ChatCall;

  constructor(request: Exchange, call: ChatCall) {
    this.request = request;
    this.#call = call;
  }

  get llmRequest(): JsonObject {
    return this.#call.body;
  }
}

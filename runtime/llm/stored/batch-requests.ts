import type { Exchange } from "../../http/exchange.ts";
import { JsonBody } from "../../json/json-body.ts";
import type { Member } from "../../json/json-text.ts";
import { modelOf } from "../calls/call-attempts.ts";
import { bodyFor, type ChatCall, readCallOf } from "../calls/chat-call.ts";
import type { ChatService } from "../calls/chat-service.ts";
import { tokensOf } from "../calls/count-tokens.ts";
import { requireOpenModels } from "../calls/open-models.ts";
import type { LlmTarget } from "../calls/target.ts";
import { unserved } from "../calls/unserved-model.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import type { ObjectStore } from "./object-store.ts";

/** Requests of one batch. All go to the same provider, in the form in which it would get each of them alone. */
export class BatchRequests {
  readonly #exchange: Exchange;
  readonly #stores: readonly ObjectStore[];
  /** Estimated tokens of the requests so far. */
  tokens = 0;
  /** Model of the first request, by its name at the provider. */
  model = "";
  #store: ObjectStore | undefined;

  constructor(exchange: Exchange, stores: readonly ObjectStore[]) {
    this.#exchange = exchange;
    this.#stores = stores;
  }

  /** Provider of the requests. Throws LlmRefusal if there are none. */
  get store(): ObjectStore {
    if (this.#store === undefined) throw invalid("the batch has no requests");
    return this.#store;
  }

  /**
   * Returns a request as its provider gets it. The member `key` of `item` is its body. Throws LlmRefusal if the caller may
   * not send it, or if it goes to another provider than those before.
   */
  add(item: ChatCall, key: string, service: ChatService): string {
    const member = item.members.find((each) => each.key === key);
    if (member === undefined) throw invalid(`"${key}" is missing`);
    const call = readCallOf(this.#exchange, Buffer.from(textOf(item, member)));
    requireOpenModels(this.#exchange, call);
    const general = this.#targetOf(call, service);
    const given = general.transform?.(this.#exchange, call) ?? call;
    const model = modelOf(given, general);
    const target = general.forModel?.(model, given) ?? general;
    if (!target.isNative) throw invalid(`the model "${call.model}" has no batches of this API`);
    this.#join(target, model);
    this.tokens += tokensOf(given.body);
    const edited = bodyFor(given, model);
    target.prepare?.(edited);
    const body = target.requestBody(given, edited, this.#exchange);
    const written = new JsonBody(item.text, item.members);
    written.set(key, typeof body === "string" ? body : bufferOf(body).toString("utf8"));
    return written.toString();
  }

  /** Returns the provider of a request: the first one, because a batch cannot be retried elsewhere. */
  #targetOf(call: ChatCall, service: ChatService): LlmTarget {
    const conditions = { request: this.#exchange, llmRequest: call.body };
    for (const target of service.targets(call.model, conditions) ?? []) return target;
    throw unserved(call.model, service);
  }

  #join({ provider }: LlmTarget, model: string): void {
    const store = this.#stores.find((each) => each.provider === provider);
    if (store === undefined) throw invalid(`the provider of the model "${model}" has no batches`);
    if (this.#store === undefined) this.model = model;
    this.#store ??= store;
    if (this.#store !== store) throw invalid("the models of a batch must have the same provider");
  }
}

/** Returns the JSON of a member. */
function textOf({ text }: ChatCall, { start, end }: Member): string {
  return text.slice(start, end);
}

/** Returns the refusal of a batch. */
export function invalid(message: string, field?: string): LlmRefusal {
  return new LlmRefusal({ kind: "invalid", message, field });
}

import { type Exchange, logFields } from "../../http/exchange.ts";
import { JsonBody } from "../../json/json-body.ts";
import type { Member } from "../../json/json-text.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import { modelOf } from "../calls/call-attempts.ts";
import { CallGuards } from "../calls/call-guards.ts";
import { bodyFor, type ChatCall, readCallOf } from "../calls/chat-call.ts";
import type { ChatService } from "../calls/chat-service.ts";
import { expectInput, tokensOf } from "../calls/count-tokens.ts";
import { requireOpenModels } from "../calls/open-models.ts";
import type { LlmTarget } from "../calls/target.ts";
import { unserved } from "../calls/unserved-model.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { chargeInput } from "./charge-batch.ts";
import type { ObjectStore } from "./object-store.ts";

/** Requests of one batch. All go to the same provider, in the form in which it would get each of them alone. */
export class BatchRequests {
  readonly #exchange: Exchange;
  readonly #stores: readonly ObjectStore[];
  /** Estimated tokens of the requests so far, by model. */
  readonly #tokens = new Map<string, number>();
  /** Whether limits are charged before the batch is sent. */
  #expectsTokens = false;
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
   * Returns a request as its provider gets it. The member `key` of `item` is its body. Rejects with LlmRefusal if the caller
   * may not send it, if a guard refuses it, or if it goes to another provider than those before.
   */
  async add(item: ChatCall, key: string, service: ChatService): Promise<string> {
    const member = item.members.find((each) => each.key === key);
    if (member === undefined) throw invalid(`"${key}" is missing`);
    const call = readCallOf(this.#exchange, Buffer.from(textOf(item, member)));
    requireOpenModels(this.#exchange, call);
    const general = this.#targetOf(call, service);
    const transformed = general.transform?.(this.#exchange, call) ?? call;
    const { texts } = service;
    const guards = texts && new CallGuards(this.#exchange, call, texts);
    const given = guards === undefined ? transformed : await guards.callFor(general, transformed);
    const model = modelOf(given, general);
    const target = general.forModel?.(model, given) ?? general;
    if (!target.isNative) throw invalid(`the model "${call.model}" has no batches of this API`);
    this.#join(target, model);
    this.#tokens.set(model, (this.#tokens.get(model) ?? 0) + tokensOf(given.body));
    this.#expectsTokens ||= service.expectsTokens === true;
    const edited = bodyFor(given, model);
    target.prepare?.(edited);
    const body = target.requestBody(given, edited, this.#exchange);
    const written = new JsonBody(item.text, item.members);
    written.set(key, typeof body === "string" ? body : bufferOf(body).toString("utf8"));
    return written.toString();
  }

  /** Charges limits before the batch is sent; false if one is exceeded, and the request is answered. */
  expect(): MaybePromise<boolean> {
    if (!this.#expectsTokens) return true;
    return expectInput(
      this.#exchange,
      this.#tokens.values().reduce((sum, each) => sum + each, 0),
    );
  }

  /** Charges limits the estimated tokens, after the provider has accepted them. Its responses are not known yet. */
  charge(): void {
    for (const [model, tokens] of this.#tokens) {
      logFields(this.#exchange.record).set("gen_ai.request.model", model);
      chargeInput(this.#exchange, this.store.provider, model, tokens);
    }
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

import type { Exchange, Handled } from "../../http/exchange.ts";
import type { TriedCall } from "../../policies/retry/tries.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { attempt } from "./attempt.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import type { CallAttributes } from "./call-attributes.ts";
import { CallGuards } from "./call-guards.ts";
import { requestHeaders, requestLines } from "./call-headers.ts";
import { bodyFor, type ChatCall, renamedCall, sentLength } from "./chat-call.ts";
import type { ChatService } from "./chat-service.ts";
import { beginModelCall, endModelCall } from "./model-span.ts";
import type { ProviderRequest } from "./provider-request.ts";
import { noteOutcome } from "./provider-verdict.ts";
import { recordResponse } from "./record-call.ts";
import {
  type FailedAttempt,
  respondFailedCall,
  respondLateRefusal,
} from "./respond-failed-call.ts";
import type { LlmTarget } from "./target.ts";
import type { TransformedRequest } from "./transform-fields.ts";
import { unknownModel } from "./unknown-model.ts";

/** What is known of a call before anybody is asked. */
export interface AskedFacts {
  readonly exchange: Exchange;
  readonly service: ChatService;
  readonly call: ChatCall;
  /** What conditions over providers read. */
  readonly conditions: TransformedRequest;
  /** What expressions read of the request. */
  readonly attributes: CallAttributes;
  /** How often it is tried; undefined: each provider is asked once. */
  readonly tried: TriedCall | undefined;
}

/** A call, and the providers that are asked in turn until one responds: who responds is listened to, and not waited for. */
export class AskedCall {
  readonly #facts: AskedFacts;
  readonly #targets: Iterator<LlmTarget>;
  /** What guards the call; undefined: nothing does. */
  readonly #guards: CallGuards | undefined;
  /** When all has to be over, in milliseconds of the monotonic clock. */
  readonly #deadline: number;
  /** Why the first one could not be asked that could not. */
  #refusal: LlmRefusal | undefined;
  #failure: FailedAttempt | undefined;

  constructor(facts: AskedFacts, targets: Iterable<LlmTarget>) {
    const { exchange, service, tried } = facts;
    this.#facts = facts;
    this.#targets = (tried === undefined ? targets : this.#inTurn(targets))[Symbol.iterator]();
    this.#guards = service.texts && new CallGuards(exchange, service.texts);
    this.#deadline =
      service.timeout === undefined
        ? Number.POSITIVE_INFINITY
        : performance.now() + service.timeout;
  }

  /** Asks the next provider; a promise where guards are waited for. Throws LlmRefusal when nobody can be asked. */
  askNext(): Handled {
    const { exchange, call, attributes } = this.#facts;
    const guards = this.#guards;
    for (;;) {
      const next = this.#targets.next();
      if (next.done === true) return this.#giveUp();
      const target = next.value;
      const given = transformed(exchange, call, target, attributes);
      if (guards !== undefined) return this.#askGuarded(guards, given, target);
      if (this.#ask(given, target)) return;
    }
  }

  async #askGuarded(guards: CallGuards, call: ChatCall, target: LlmTarget): Promise<void> {
    const guarded = await guards.callFor(target, call);
    if (!this.#ask(guarded, target)) await this.askNext();
  }

  /** The providers of the call, and those of further rounds while there is another. */
  *#inTurn(first: Iterable<LlmTarget>): Iterable<LlmTarget> {
    const { service, call, conditions } = this.#facts;
    yield* first;
    while (this.#failure !== undefined) {
      const round = service.targets(call.model, conditions);
      if (round === undefined) return;
      yield* round;
    }
  }

  /** Asks one provider. False: it cannot be asked for that; another one may be. */
  #ask(call: ChatCall, target: LlmTarget): boolean {
    const { exchange, service, attributes } = this.#facts;
    const { providerHeader, attemptTimeout, keepAlive, operation, errors } = service;
    const { provider } = target;
    const { health } = provider;
    const start = performance.now();
    const request = upstreamRequest(exchange, call, target);
    if (request instanceof LlmRefusal) {
      this.#refusal ??= request;
      return false;
    }
    const { model, target: spoken } = request;
    if (health !== undefined) health.pending += 1;
    const asked = request.call;
    const span =
      "headers" in asked
        ? beginModelCall(exchange.trace, { provider, model, operation }, asked)
        : undefined;
    const guard = this.#guards?.responseGuard(target, call);
    const settle = (outcome: AttemptOutcome): void => {
      if (span !== undefined) endModelCall(span, outcome);
      // An error passes guards when it is known to be what the client gets.
      if (guard !== undefined && outcome.kind !== "failed") this.#guards?.settle(guard);
      if (health !== undefined) {
        health.pending -= 1;
        noteOutcome(health, outcome, start);
      }
      const facts = { target, call, model, operation, start, attributes };
      recordResponse(exchange, facts, outcome);
      if (outcome.kind === "failed") void this.#goOn({ ...outcome, target });
    };
    exchange.record.upstream = provider.upstream.name;
    attributes.provider = provider.system;
    const headers = provider.shown.in(providerHeader);
    const left = Math.min(attemptTimeout ?? Number.POSITIVE_INFINITY, this.#deadline - start);
    const timeout = left === Number.POSITIVE_INFINITY ? undefined : left;
    attempt(asked, {
      exchange,
      call,
      target: spoken,
      model,
      headers,
      timeout,
      keepAlive,
      errors,
      guard,
      settle,
    });
    return true;
  }

  /** Asks another provider after one has failed, or tells the client. */
  async #goOn(failure: FailedAttempt): Promise<void> {
    const { exchange, service } = this.#facts;
    this.#failure = failure;
    try {
      if (await this.#mayAskAnother(failure)) await this.askNext();
      else await this.#giveUp();
    } catch (error) {
      respondLateRefusal(exchange, error, service.errors);
    }
  }

  async #mayAskAnother(failure: FailedAttempt): Promise<boolean> {
    const { exchange, tried } = this.#facts;
    const isWorthwhile = tried?.isWorthwhile(failure) ?? failure.mayTryNext;
    if (!isWorthwhile || exchange.isOver || performance.now() >= this.#deadline) return false;
    // Who is one of several is left alone for as long as it asks.
    const isSame = failure.target.provider.health === undefined;
    return tried === undefined || tried.next(exchange, failure, isSame, this.#deadline);
  }

  /** Tells the client why there is no response. */
  async #giveUp(): Promise<void> {
    const { exchange, service } = this.#facts;
    const failure = this.#failure;
    if (exchange.isOver) return;
    if (failure === undefined) throw this.#refusal ?? new Error("a choice of no provider");
    await respondFailedCall(exchange, failure, { guards: this.#guards, errors: service.errors });
  }
}

/** The call as expressions of a provider have it: they may read who is asked. */
function transformed(
  exchange: Exchange,
  call: ChatCall,
  { transform, provider, requested }: LlmTarget,
  attributes: CallAttributes,
): ChatCall {
  if (transform === undefined) return call;
  exchange.record.upstream = provider.upstream.name;
  attributes.provider = provider.system;
  return transform(exchange, requested === undefined ? call : renamedCall(call, requested));
}

/** The request to a provider. */
function upstreamRequest(
  exchange: Exchange,
  call: ChatCall,
  general: LlmTarget,
):
  | { readonly call: ProviderRequest; readonly model: string; readonly target: LlmTarget }
  | LlmRefusal {
  try {
    const model = modelOf(call, general);
    const target = general.forModel?.(model) ?? general;
    const edited = bodyFor(call, model);
    target.prepare?.(edited);
    const endpoint =
      typeof target.path === "string" ? target.path : target.path(model, call.isStream);
    const body = target.requestBody(call, edited);
    const method = "POST";
    const path = target.provider.upstream.basePath + endpoint;
    const lines = requestLines(exchange, target, endpoint);
    if (lines !== undefined) {
      const length = sentLength(call, body);
      return { model, target, call: { method, path, lines, body, length } };
    }
    const headers = requestHeaders(exchange, target, endpoint);
    return { model, target, call: { method, path, headers, body } };
  } catch (error) {
    if (error instanceof LlmRefusal) return error;
    throw error;
  }
}

/** The model of the configuration, else the one that the client names, by its name at the provider. */
function modelOf({ model }: ChatCall, target: LlmTarget): string {
  const { provider, modelFor, transform } = target;
  // Expressions have seen the other name, and may have given one of their own.
  const requested = transform === undefined ? (target.requested ?? model) : model;
  if (provider.model !== undefined) return provider.model;
  if (requested === undefined) throw unknownModel(undefined);
  return modelFor === undefined ? requested : modelFor(requested);
}

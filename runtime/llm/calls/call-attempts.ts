import type { ServerHealth } from "../../backends/server-health.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import type { CallSpan, ExchangeTrace } from "../../http/exchange-trace.ts";
import { retryAfter } from "../../http/headers/retry-after.ts";
import { describeCall } from "../../http/upstream/traced-request.ts";
import type { UpstreamCall } from "../../http/upstream/upstream.ts";
import type { TriedCall } from "../../policies/retry/tries.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import { SECOND } from "../../process/units.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { Provider } from "../providers/provider.ts";
import { attempt } from "./attempt.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import { type CachedCall, cachedCall } from "./cached-call.ts";
import type { CallAttributes } from "./call-attributes.ts";
import { CallGuards } from "./call-guards.ts";
import { requestHeaders, requestLines } from "./call-headers.ts";
import { bodyFor, type ChatCall, renamedCall, sentLength } from "./chat-call.ts";
import type { ChatService } from "./chat-service.ts";
import { forwardedQuery } from "./forwarded-query.ts";
import type { ProviderRequest } from "./provider-request.ts";
import { recordResponse } from "./record-call.ts";
import {
  type FailedAttempt,
  respondFailedCall,
  respondLateRefusal,
} from "./respond-failed-call.ts";
import type { LlmTarget } from "./target.ts";
import type { TransformedRequest } from "./transform-fields.ts";
import { unknownModel } from "./unknown-model.ts";

/** Facts of a call that are known before any provider is called. */
export interface CallContext {
  readonly exchange: Exchange;
  readonly service: ChatService;
  readonly call: ChatCall;
  /** Request that conditions over providers read. */
  readonly conditions: TransformedRequest;
  /** Attributes of the request that expressions read. */
  readonly attributes: CallAttributes;
  /** Retry state; `undefined` if each provider is tried once. */
  readonly retry: TriedCall | undefined;
}

/**
 * A call, and the providers that are tried in turn until one responds. Each response is handled by callbacks; nothing awaits
 * it.
 */
export class CallAttempts {
  readonly #context: CallContext;
  readonly #targets: Iterator<LlmTarget>;
  /** Guards of the call; `undefined` if there are no guards. */
  readonly #guards: CallGuards | undefined;
  /** Deadline of the whole call, in milliseconds of the monotonic clock. */
  readonly #deadline: number;
  /** Refusal of the first provider that cannot serve the request. */
  #refusal: LlmRefusal | undefined;
  #failure: FailedAttempt | undefined;

  constructor(context: CallContext, targets: Iterable<LlmTarget>) {
    const { exchange, service, call, retry } = context;
    this.#context = context;
    this.#targets = (retry === undefined ? targets : this.#inTurn(targets))[Symbol.iterator]();
    this.#guards = service.texts && new CallGuards(exchange, call, service.texts);
    this.#deadline =
      service.timeout === undefined
        ? Number.POSITIVE_INFINITY
        : performance.now() + service.timeout;
  }

  /**
   * Tries the next provider. Returns a promise if guards must be awaited. Throws LlmRefusal if no provider can serve the
   * request.
   */
  tryNext(): Handled {
    const { exchange, call, attributes } = this.#context;
    const guards = this.#guards;
    for (;;) {
      const next = this.#targets.next();
      if (next.done === true) return this.#giveUp();
      const target = next.value;
      const given = transformed(exchange, call, target, attributes);
      // Headers of webhooks may read which provider it is.
      if (target.guard !== undefined) attributes.provider = target.provider.system;
      const guarded = guards === undefined ? given : guards.callFor(target, given);
      const served = thenMaybe(guarded, (call) => this.#serve(call, target));
      if (typeof served !== "boolean") return this.#tryAfter(served);
      if (served) return;
    }
  }

  async #tryAfter(served: MaybePromise<boolean>): Promise<void> {
    if (!(await served)) await this.tryNext();
  }

  /** Responds from the cache of a provider, or tries it; false if it cannot serve this request, though another one may. */
  #serve(call: ChatCall, target: LlmTarget): MaybePromise<boolean> {
    const { exchange, attributes } = this.#context;
    attributes.sent = call;
    const cached = cachedCall(exchange, call, target);
    if (cached === undefined) return this.#try(call, target);
    if (cached.respond(attributes)) return true;
    const flight = cached.wait();
    if (flight === undefined) {
      if (target.further === undefined) return this.#tryFirst(call, target, cached);
      return this.#tryFurther(call, target, cached);
    }
    return flight.then(() => {
      if (exchange.isOver || cached.respond(attributes)) return true;
      if (target.further !== undefined) return this.#tryFurther(call, target, cached);
      return this.#try(call, target, cached);
    });
  }

  /** Responds from further caches, or tries the provider. */
  async #tryFurther(call: ChatCall, target: LlmTarget, cached: CachedCall): Promise<boolean> {
    const { service, attributes } = this.#context;
    const { errors, operation } = service;
    const guard = this.#guards?.responseGuard(target, call);
    let isTried = false;
    try {
      const isServed = await cached.respondFurther(attributes, { guard, errors, operation });
      if (isServed) return true;
      isTried = this.#try(call, target, cached);
      return isTried;
    } finally {
      if (!isTried) cached.land();
    }
  }

  /** Tries a provider while equal requests wait for its response. */
  #tryFirst(call: ChatCall, target: LlmTarget, cached: CachedCall): boolean {
    let isTried = false;
    try {
      isTried = this.#try(call, target, cached);
      return isTried;
    } finally {
      if (!isTried) cached.land();
    }
  }

  /** Yields the providers of the call, and those of further rounds after failures. */
  *#inTurn(first: Iterable<LlmTarget>): Iterable<LlmTarget> {
    const { service, call, conditions } = this.#context;
    yield* first;
    while (this.#failure !== undefined) {
      const round = service.targets(call.model, conditions);
      if (round === undefined) return;
      yield* round;
    }
  }

  /** Tries one provider; false if it cannot serve this request, though another one may. */
  #try(call: ChatCall, target: LlmTarget, cached?: CachedCall): boolean {
    const { exchange, service, attributes } = this.#context;
    const { providerHeader, attemptTimeout, keepAlive, operation, errors } = service;
    const { provider } = target;
    const { health } = provider;
    const start = performance.now();
    const request = upstreamRequest(exchange, call, target);
    if (request instanceof LlmRefusal) {
      this.#refusal ??= request;
      return false;
    }
    const { model, target: adapted } = request;
    if (health !== undefined) health.pending += 1;
    const sent = request.call;
    const span =
      "headers" in sent
        ? beginModelCall(exchange.trace, { provider, model, operation }, sent)
        : undefined;
    const guard = this.#guards?.responseGuard(target, call);
    const recording = cached?.record();
    const settle = (outcome: AttemptOutcome): void => {
      // An error passes guards once it is known that the client gets it.
      if (guard !== undefined && outcome.kind !== "failed") this.#guards?.settle(guard);
      if (health !== undefined) {
        health.pending -= 1;
        noteOutcome(health, outcome, start);
      }
      const facts = { target, call, model, operation, start, attributes };
      recordResponse(exchange, facts, outcome);
      if (span !== undefined) endModelCall(span, outcome);
      if (recording !== undefined) cached?.settle(recording, outcome, call, attributes);
      if (outcome.kind === "failed") void this.#continue({ ...outcome, target });
    };
    exchange.record.upstream = provider.upstream.name;
    attributes.provider = provider.system;
    const headers = provider.shown.in(providerHeader);
    const left = Math.min(attemptTimeout ?? Number.POSITIVE_INFINITY, this.#deadline - start);
    const timeout = left === Number.POSITIVE_INFINITY ? undefined : left;
    attempt(sent, {
      exchange,
      call,
      target: adapted,
      model,
      headers,
      timeout,
      keepAlive,
      errors,
      guard,
      recording,
      settle,
    });
    return true;
  }

  /** Tries another provider after a failure, or responds to the client. */
  async #continue(failure: FailedAttempt): Promise<void> {
    const { exchange, service } = this.#context;
    this.#failure = failure;
    try {
      if (await this.#mayTryNext(failure)) await this.tryNext();
      else await this.#giveUp();
    } catch (error) {
      respondLateRefusal(exchange, error, service.errors);
    }
  }

  async #mayTryNext(failure: FailedAttempt): Promise<boolean> {
    const { exchange, retry } = this.#context;
    const isWorthwhile = retry?.isWorthwhile(failure) ?? failure.mayTryNext;
    if (!isWorthwhile || exchange.isOver || performance.now() >= this.#deadline) return false;
    // A provider with health is ejected for the pause that it requests, so the retry goes to another one without waiting.
    const isSame = failure.target.provider.health === undefined;
    return retry === undefined || retry.next(exchange, failure, isSame, this.#deadline);
  }

  /** Responds to the client that no provider has responded. */
  async #giveUp(): Promise<void> {
    const { exchange, service } = this.#context;
    const failure = this.#failure;
    if (exchange.isOver) return;
    if (failure === undefined) throw this.#refusal ?? new Error("no provider to choose from");
    await respondFailedCall(exchange, failure, { guards: this.#guards, errors: service.errors });
  }
}

/** Returns the call as transformed for a provider; its expressions may read which provider it is. */
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

/** Keeps the query of a client whose format the provider uses (`?beta=true`), unless the endpoint has its own. */
function withQuery(endpoint: string, exchange: Exchange, { isNative }: LlmTarget): string {
  const query = isNative && !endpoint.includes("?") ? forwardedQuery(exchange) : "";
  if (query === "") return endpoint;
  return `${endpoint}?${query}`;
}

/** Builds the request to a provider. */
function upstreamRequest(
  exchange: Exchange,
  call: ChatCall,
  general: LlmTarget,
):
  | { readonly call: ProviderRequest; readonly model: string; readonly target: LlmTarget }
  | LlmRefusal {
  try {
    const model = modelOf(call, general);
    const target = general.forModel?.(model, call) ?? general;
    const edited = bodyFor(call, model);
    target.prepare?.(edited);
    const endpoint =
      typeof target.path === "string" ? target.path : target.path(model, call.isStream);
    const translated = target.requestBody(call, edited, exchange);
    const body = target.finish?.(exchange, translated) ?? translated;
    const method = "POST";
    const path = target.provider.upstream.basePath + withQuery(endpoint, exchange, target);
    const ofBody = target.headersFor?.(call) ?? [];
    const lines = requestLines(exchange, target, endpoint, ofBody);
    if (lines !== undefined) {
      const length = sentLength(call, body);
      return { model, target, call: { method, path, lines, body, length } };
    }
    const headers = requestHeaders(exchange, target, endpoint, ofBody);
    return { model, target, call: { method, path, headers, body } };
  } catch (error) {
    if (error instanceof LlmRefusal) return error;
    throw error;
  }
}

/** Returns the provider's name of the configured model, or else of the requested one. */
export function modelOf({ model }: ChatCall, target: LlmTarget): string {
  const { provider, modelFor, transform } = target;
  // Expressions were given the requested name, and may have changed it.
  const requested = transform === undefined ? (target.requested ?? model) : model;
  if (provider.model !== undefined) return provider.model;
  if (requested === undefined) throw unknownModel(undefined);
  return modelFor === undefined ? requested : modelFor(requested);
}

/** Initial attributes of the span of a model call. */
interface ModelCallFacts {
  readonly provider: Provider;
  readonly model: string;
  /** `chat`, `embeddings`. */
  readonly operation: string;
}

/** Begins the span of a request to a provider, by OpenTelemetry's conventions for generative AI: `chat gpt-4o`. */
function beginModelCall(
  trace: ExchangeTrace | undefined,
  { provider, model, operation }: ModelCallFacts,
  call: UpstreamCall,
): CallSpan | undefined {
  if (trace === undefined) return undefined;
  const span = trace.beginCall(`${operation} ${model}`);
  span.text("gen_ai.operation.name", operation);
  span.text("gen_ai.provider.name", provider.system);
  span.text("gen_ai.request.model", model);
  describeCall(span, provider.upstream, call);
  return span;
}

/**
 * Ends the span with the outcome of the request. Tokens and costs are attributes of the client's request alone: tools for
 * conversations add up those of all spans.
 */
function endModelCall(span: CallSpan, outcome: AttemptOutcome): void {
  if (outcome.kind === "abandoned") {
    span.end("aborted");
    return;
  }
  span.number("http.response.status_code", outcome.head?.status);
  if (outcome.kind === "responded") {
    const { model, id, finish } = outcome.facts;
    span.text("gen_ai.response.model", model);
    span.text("gen_ai.response.id", id);
    span.list("gen_ai.response.finish_reasons", finish === undefined ? undefined : [finish]);
  }
  span.end(outcome.error?.kind);
}

/** Records how a request ended in the health of its provider. `start`: milliseconds of the monotonic clock. */
function noteOutcome(health: ServerHealth, outcome: AttemptOutcome, start: number): void {
  if (outcome.kind === "abandoned") return;
  // A slow client must not eject a healthy provider.
  if (outcome.kind === "responded" && outcome.isClientSlow) return;
  const now = performance.now();
  if (isFailure(health, outcome)) health.fail(now, requestedPause(outcome));
  else if (outcome.kind === "responded") {
    health.succeed(((outcome.firstContent ?? now) - start) / SECOND);
  }
}

/** A missing or aborted response is always a failure; otherwise the configuration or the status decides. */
function isFailure(
  health: ServerHealth,
  { head, error }: Exclude<AttemptOutcome, { kind: "abandoned" }>,
): boolean {
  if (head === undefined) return true;
  // A filtered response is not a failure: the provider has worked.
  if (head.status < 300 && error !== undefined) return error.kind !== "filtered";
  return health.isFailure(head.status, head.headers, (status) => status >= 500 || status === 429);
}

/** Returns the pause in milliseconds that an overloaded provider requests. */
function requestedPause({
  head,
}: Exclude<AttemptOutcome, { kind: "abandoned" }>): number | undefined {
  return head?.status === 429 ? retryAfter(head.headers) : undefined;
}

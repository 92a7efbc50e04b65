import type { JsonObject } from "../cel/variables.ts";
import { bufferBody } from "../http/buffer-body.ts";
import type { Exchange, Handled } from "../http/exchange.ts";
import type { UpstreamCall } from "../http/upstream/upstream.ts";
import type { TriedCall } from "../policies/retry/tries.ts";
import { whenThere } from "../process/eventual.ts";
import { attempt } from "./calls/attempt.ts";
import type { AttemptOutcome } from "./calls/attempt-outcome.ts";
import type { CallAttributes } from "./calls/call-attributes.ts";
import { CallGuards } from "./calls/call-guards.ts";
import { requestHeaders } from "./calls/call-headers.ts";
import { bodyFor, type ChatCall, readCall, renamedCall } from "./calls/chat-call.ts";
import { expectTokens } from "./calls/count-tokens.ts";
import { beginModelCall, endModelCall } from "./calls/model-span.ts";
import { requireOpenModels } from "./calls/open-models.ts";
import { noteOutcome } from "./calls/provider-verdict.ts";
import { recordCall, recordResponse } from "./calls/record-call.ts";
import { refuseMethod } from "./calls/respond-error.ts";
import {
  type FailedAttempt,
  respondFailedCall,
  respondRefusal,
} from "./calls/respond-failed-call.ts";
import type { ConditionalChoice, LlmTarget } from "./calls/target.ts";
import type { TransformedRequest } from "./calls/transform-fields.ts";
import type { ErrorFormat } from "./chat/formats.ts";
import { LlmRefusal } from "./chat/llm-error.ts";
import type { TextFormat } from "./chat/texts.ts";

/** One route type of a route: which clients it is for, and who responds to them. */
export interface ChatService {
  /** How the client reads errors. */
  readonly errors: ErrorFormat;
  /** `gen_ai.operation.name`. */
  readonly operation: "chat" | "embeddings" | "count_tokens";
  /** The most bytes of a request's body. */
  readonly limit: number;
  readonly targets: ConditionalChoice;
  /** Where requests and responses have texts; absent: no target guards any. */
  readonly texts?: TextFormat;
  /** About as many tokens as a request has are taken from limits before it goes out; absent: none are. */
  readonly expectsTokens?: true;
  /** Milliseconds of silence after which a client of a stream gets a sign of life; absent: nothing is streamed. */
  readonly keepAlive?: number;
  /** Milliseconds to the end of the response, whoever is asked; absent: no limit. */
  readonly timeout?: number;
  /** The same for each provider that is asked. */
  readonly attemptTimeout?: number;
  /** The response header that names the provider; absent: none does. */
  readonly providerHeader?: string;
}

/**
 * Serves one request: reads it, asks providers until one responds, and passes that response on. `tried` says how often; each
 * is asked once where it is absent.
 */
export function serveChat(exchange: Exchange, service: ChatService, tried?: TriedCall): Handled {
  if (refuseMethod(exchange, service.errors)) return;
  return whenThere(bufferBody(exchange, service.limit), (isThere) =>
    isThere ? serveRead(exchange, service, tried) : undefined,
  );
}

function serveRead(
  exchange: Exchange,
  service: ChatService,
  tried: TriedCall | undefined,
): Promise<void> {
  return serveCall(exchange, service, tried).catch((error: unknown) =>
    respondRefusal(exchange, error, service.errors),
  );
}

async function serveCall(
  exchange: Exchange,
  service: ChatService,
  tried: TriedCall | undefined,
): Promise<void> {
  const call = readCall(exchange);
  requireOpenModels(exchange, call);
  const attributes = recordCall(exchange, call, service.operation);
  const asked = new AskedCall(exchange, call);
  const targets = service.targets(call.model, asked);
  if (targets === undefined) throw unknownModel(call.model);
  if (service.expectsTokens === true && !expectTokens(exchange, call)) return;
  const deadline = performance.now() + (service.timeout ?? Number.POSITIVE_INFINITY);
  const guards = service.texts && new CallGuards(exchange, service.texts);
  const settings = { service, deadline, attributes, guards };
  let refusal: LlmRefusal | undefined;
  let failure: FailedAttempt | undefined;
  const another = () => failure && service.targets(call.model, asked);
  for (const target of tried === undefined ? targets : inTurn(targets, another)) {
    // What asks nobody is not waited for.
    const given = transformed(exchange, call, target, attributes);
    const guarded = guards === undefined ? given : await guards.callFor(target, given);
    const outcome = await ask(exchange, guarded, target, settings);
    if (outcome instanceof LlmRefusal) {
      // What one provider cannot be asked for, another one may be.
      refusal ??= outcome;
      continue;
    }
    if (outcome.kind !== "failed") return;
    failure = { ...outcome, target };
    const isWorthwhile = tried?.isWorthwhile(outcome) ?? outcome.mayTryNext;
    if (!isWorthwhile || exchange.isOver || performance.now() >= deadline) break;
    // Who is one of several is left alone for as long as it asks.
    const isSame = target.provider.health === undefined;
    if (tried !== undefined && !(await tried.next(exchange, outcome, isSame, deadline))) break;
  }
  if (exchange.isOver) return;
  if (failure === undefined) throw refusal ?? new Error("a choice of no provider");
  await respondFailedCall(exchange, failure, { guards, errors: service.errors });
}

/** The call as conditions read it: its body is parsed when one asks for it. */
class AskedCall implements TransformedRequest {
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

/** The providers of a call, and those of further rounds while there is another. */
function* inTurn(
  first: Iterable<LlmTarget>,
  another: () => Iterable<LlmTarget> | undefined,
): Iterable<LlmTarget> {
  for (let round: typeof first | undefined = first; round !== undefined; round = another()) {
    yield* round;
  }
}

/** What holds for each provider that is asked. */
interface CallSettings {
  readonly service: ChatService;
  /** When all has to be over, in milliseconds of the monotonic clock. */
  readonly deadline: number;
  /** What expressions read of the request. */
  readonly attributes: CallAttributes;
  /** What guards the call; undefined: nothing does. */
  readonly guards: CallGuards | undefined;
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

/** Asks one provider; a refusal when it cannot be asked for that. */
function ask(
  exchange: Exchange,
  call: ChatCall,
  target: LlmTarget,
  { service, deadline, attributes, guards }: CallSettings,
): Promise<AttemptOutcome> | LlmRefusal {
  const { providerHeader, attemptTimeout, keepAlive, operation, errors } = service;
  const { provider } = target;
  const { health } = provider;
  const start = performance.now();
  const request = upstreamRequest(exchange, call, target);
  if (request instanceof LlmRefusal) return request;
  const { model, target: spoken } = request;
  if (health !== undefined) health.pending += 1;
  const span = beginModelCall(exchange.trace, { provider, model, operation }, request.call);
  const guard = guards?.responseGuard(target, call);
  const settle = (outcome: AttemptOutcome): void => {
    if (span !== undefined) endModelCall(span, outcome);
    // An error passes guards when it is known to be what the client gets.
    if (guard !== undefined && outcome.kind !== "failed") guards?.settle(guard);
    if (health !== undefined) {
      health.pending -= 1;
      noteOutcome(health, outcome, start);
    }
    const asked = { target, call, model, operation, start, attributes };
    recordResponse(exchange, asked, outcome);
  };
  exchange.record.upstream = provider.upstream.name;
  attributes.provider = provider.system;
  const headers = providerHeader === undefined ? [] : [providerHeader, provider.name];
  const left = Math.min(attemptTimeout ?? Number.POSITIVE_INFINITY, deadline - start);
  const timeout = left === Number.POSITIVE_INFINITY ? undefined : left;
  const context = {
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
  };
  return attempt(request.call, context);
}

/** The request to a provider. */
function upstreamRequest(
  exchange: Exchange,
  call: ChatCall,
  general: LlmTarget,
):
  | { readonly call: UpstreamCall; readonly model: string; readonly target: LlmTarget }
  | LlmRefusal {
  try {
    const model = modelOf(call, general);
    const target = general.forModel?.(model) ?? general;
    const body = bodyFor(call, model);
    target.prepare?.(body);
    const path = typeof target.path === "string" ? target.path : target.path(model, call.isStream);
    return {
      model,
      target,
      call: {
        method: "POST",
        path: target.provider.upstream.basePath + path,
        headers: requestHeaders(exchange, target, path),
        body: target.requestBody(call, body),
      },
    };
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

function unknownModel(model: string | undefined): LlmRefusal {
  if (model === undefined) {
    return new LlmRefusal({ kind: "invalid", message: '"model" is missing', field: "model" });
  }
  const message = `the model "${model}" does not exist`;
  return new LlmRefusal({ kind: "not-found", message, field: "model" });
}

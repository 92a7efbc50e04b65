import type { Exchange } from "../http/exchange.ts";
import type { UpstreamCall } from "../http/upstream/upstream.ts";
import { type AttemptContext, type AttemptOutcome, attempt } from "./calls/attempt.ts";
import { requestHeaders } from "./calls/call-headers.ts";
import { bodyFor, type ChatCall, readCall } from "./calls/chat-call.ts";
import { recordCall, recordResponse } from "./calls/record-call.ts";
import type { LlmTarget, TargetChoice } from "./calls/target.ts";
import type { ErrorFormat } from "./chat/formats.ts";
import { errorStatus, type LlmError, LlmRefusal } from "./chat/llm-error.ts";

/** One route type of a route: which clients it is for, and who responds to them. */
export interface ChatService {
  /** How the client reads errors. */
  readonly errors: ErrorFormat;
  /** `gen_ai.operation.name`. */
  readonly operation: "chat" | "embeddings";
  /** The most bytes of a request's body. */
  readonly limit: number;
  readonly targets: TargetChoice;
  /** The response header that names the provider; absent: none does. */
  readonly providerHeader?: string;
}

/** Serves one request: reads it, asks providers until one responds, and passes that response on. */
export async function serveChat(exchange: Exchange, service: ChatService): Promise<void> {
  try {
    const call = await readCall(exchange, service.limit);
    if (call !== undefined) await serveCall(exchange, call, service);
  } catch (error) {
    if (!(error instanceof LlmRefusal)) throw error;
    exchange.record.reason = "BadRequest";
    respondError(exchange, error.error, service.errors, []);
  }
}

async function serveCall(exchange: Exchange, call: ChatCall, service: ChatService): Promise<void> {
  const targets = service.targets(call.model);
  if (targets === undefined) throw unknownModel(call.model);
  recordCall(exchange, call, service.operation);
  let failure: Extract<AttemptOutcome, { kind: "failed" }> | undefined;
  for (const target of targets) {
    const outcome = await ask(exchange, call, target, service);
    if (outcome.kind !== "failed") return;
    failure = outcome;
    if (!outcome.mayTryNext || exchange.isOver) break;
  }
  if (exchange.isOver) return;
  exchange.record.reason = failure === undefined ? "NoHealthyBackend" : "UpstreamFailure";
  const error: LlmError = failure?.error ?? {
    kind: "overloaded",
    message: "no provider is healthy",
  };
  respondError(exchange, error, service.errors, failure?.headers ?? []);
}

async function ask(
  exchange: Exchange,
  call: ChatCall,
  target: LlmTarget,
  service: ChatService,
): Promise<AttemptOutcome> {
  const { provider } = target;
  const model = modelOf(call, target);
  const body = bodyFor(call, model);
  target.prepare?.(body);
  const { path } = target;
  const request: UpstreamCall = {
    method: "POST",
    path: typeof path === "string" ? path : path(model, call.isStream),
    headers: requestHeaders(exchange, target),
    body: target.requestBody(call, body),
  };
  exchange.record.upstream = provider.upstream.name;
  try {
    await provider.credential?.(request, provider.upstream);
  } catch {
    const message = "the gateway has no credentials for the provider";
    const error: LlmError = { kind: "server", message, status: 502 };
    return { kind: "failed", error, headers: [], mayTryNext: true };
  }
  const { providerHeader } = service;
  const headers = providerHeader === undefined ? [] : [providerHeader, provider.name];
  const settle = (outcome: AttemptOutcome): void => recordResponse(exchange, target, outcome);
  const context: AttemptContext = { exchange, call, target, model, headers, settle };
  return attempt(request, context);
}

function respondError(
  exchange: Exchange,
  error: LlmError,
  errors: ErrorFormat,
  headers: readonly string[],
): void {
  const type = ["content-type", "application/json"];
  exchange.respond(errorStatus(error), [...headers, ...type], errors.errorBody(error));
}

/** The model of the configuration, else the one that the client names, by its name at the provider. */
function modelOf({ model: requested }: ChatCall, { provider, modelFor }: LlmTarget): string {
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

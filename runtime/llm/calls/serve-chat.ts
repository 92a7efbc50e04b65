import type { Exchange } from "../../http/exchange.ts";
import type { RefusalFormat } from "../../http/refusal-format.ts";
import type { UpstreamCall } from "../../http/upstream/upstream.ts";
import type { ErrorFormat } from "../chat/formats.ts";
import { kindOfStatus, type LlmError, LlmRefusal, statusOf } from "../chat/llm-error.ts";
import { type AttemptContext, attempt, type Outcome } from "./attempt.ts";
import { requestHeaders } from "./call-headers.ts";
import { bodyFor, type ChatCall, readCall } from "./chat-call.ts";
import { recordCall, recordResponse } from "./record-call.ts";
import type { Target } from "./target.ts";

/** One route type of a route: which clients it is for, and who responds to them. */
export interface ChatService {
  /** How the client reads errors. */
  readonly errors: ErrorFormat;
  /** `gen_ai.operation.name`. */
  readonly operation: "chat" | "embeddings";
  /** The most bytes of a request's body. */
  readonly limit: number;
  /** The providers of a call in the order in which they are asked; undefined: nobody has this model. */
  readonly targetsFor: (model: string | undefined) => Iterable<Target> | undefined;
  /** The name of a model at the provider. */
  readonly modelFor?: (model: string) => string;
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
  const requested = call.model === undefined ? undefined : (service.modelFor ?? same)(call.model);
  const targets = service.targetsFor(requested);
  if (targets === undefined) throw unknownModel(call.model);
  recordCall(exchange, call, service.operation);
  let failure: Extract<Outcome, { kind: "failed" }> | undefined;
  for (const target of targets) {
    const outcome = await ask(exchange, call, target, requested, service);
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
  target: Target,
  requested: string | undefined,
  service: ChatService,
): Promise<Outcome> {
  const { provider } = target;
  const model = provider.model ?? requested;
  if (model === undefined) throw unknownModel(undefined);
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
  const { errors, providerHeader } = service;
  const headers = providerHeader === undefined ? [] : [providerHeader, provider.name];
  const settle = (outcome: Outcome): void => recordResponse(exchange, target, outcome);
  const context: AttemptContext = { exchange, call, target, model, errors, headers, settle };
  return attempt(request, context);
}

/** How policies before an LLM backend are told to refuse: in the client's own format. */
export function llmRefusal(errors: ErrorFormat): RefusalFormat {
  return {
    protocol: "llm",
    contentType: "application/json",
    body: (status, message) => errors.errorBody({ kind: kindOfStatus(status), message, status }),
  };
}

function respondError(
  exchange: Exchange,
  error: LlmError,
  errors: ErrorFormat,
  headers: readonly string[],
): void {
  const type = ["content-type", "application/json"];
  exchange.respond(statusOf(error), [...headers, ...type], errors.errorBody(error));
}

function same(model: string): string {
  return model;
}

function unknownModel(model: string | undefined): LlmRefusal {
  if (model === undefined) {
    return new LlmRefusal({ kind: "invalid", message: '"model" is missing', field: "model" });
  }
  const message = `the model "${model}" does not exist`;
  return new LlmRefusal({ kind: "not-found", message, field: "model" });
}

import type { Exchange } from "../http/exchange.ts";
import { queryValue } from "../http/routing/query.ts";
import { attempt } from "./calls/attempt.ts";
import { CallGuards } from "./calls/call-guards.ts";
import { passedHeaders } from "./calls/call-headers.ts";
import { ChatCall } from "./calls/chat-call.ts";
import type { ChatService } from "./calls/chat-service.ts";
import { nativeTarget } from "./calls/native-target.ts";
import { recordProvider } from "./calls/record-call.ts";
import { refuseMethod } from "./calls/respond-error.ts";
import { respondFailedCall, respondLateRefusal } from "./calls/respond-failed-call.ts";
import type { EndpointPath, TargetSettings } from "./calls/target.ts";
import type { TextFormat } from "./chat/texts.ts";
import { responsesNative } from "./formats/responses/native.ts";
import { passTo, withQuery } from "./pass-through.ts";

/** What is asked of a response that a provider keeps. */
export interface KeptRequest {
  readonly service: ChatService;
  /** The provider that keeps it. */
  readonly keeper: TargetSettings;
  /** Where it is kept; its query is the client's. */
  readonly path: EndpointPath;
}

/** Serves a request for what a provider keeps: as it is, or guarded like the response that it was. */
export function serveKept(exchange: Exchange, { service, keeper, path }: KeptRequest): void {
  const { provider, guard } = keeper;
  const { texts, timeout } = service;
  // What is kept is asked for by its id, whatever its model was.
  const own = typeof path === "string" ? path : path(provider.model ?? "", false);
  const whole = withQuery(own, exchange.query);
  if (texts !== undefined && guard !== undefined && guard.response.length > 0) {
    if (refuseMethod(exchange, service.errors, KEPT_METHODS)) return;
    serveGuarded(exchange, { service, keeper, path: whole, texts });
    return;
  }
  passTo(exchange, provider, { path: whole, ...(timeout !== undefined && { timeout }) });
}

const KEPT_METHODS = ["GET", "POST", "DELETE"] as const;

interface GuardedRequest extends KeptRequest {
  /** With its query. */
  readonly path: string;
  readonly texts: TextFormat;
}

function serveGuarded(exchange: Exchange, { service, keeper, path, texts }: GuardedRequest): void {
  const { errors, keepAlive, timeout, providerHeader } = service;
  const { provider } = keeper;
  recordProvider(exchange, provider);
  const target = nativeTarget({ ...keeper, path, format: responsesNative });
  const call = new ChatCall({
    text: "{}",
    sent: { text: "", bytes: new Uint8Array() },
    members: [],
    model: undefined,
    isStream: queryValue(exchange.query, "stream") === "true",
    client: exchange,
    body: {},
  });
  const guards = new CallGuards(exchange, texts);
  const guard = guards.responseGuard(target, call);
  // What is guarded is read.
  exchange.setRequestHeader("accept-encoding", "identity");
  const request = {
    method: exchange.upstreamMethod,
    path: provider.upstream.basePath + path,
    headers: passedHeaders(exchange, provider, path),
    body: exchange.body,
  };
  attempt(request, {
    exchange,
    call,
    target,
    model: "",
    headers: provider.shown.in(providerHeader),
    timeout,
    keepAlive,
    errors,
    guard,
    // Its tokens were counted when it was made.
    settle: (outcome) => {
      if (outcome.kind === "failed") {
        respondFailedCall(exchange, { ...outcome, target }, { guards, errors }).catch((error) =>
          respondLateRefusal(exchange, error, errors),
        );
      } else if (guard !== undefined) guards.settle(guard);
    },
  });
}

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
import { responsesNative } from "./formats/responses/native.ts";
import { passTo, withQuery } from "./pass-through.ts";
import { givingIds, type IdReceiver } from "./stored/given-ids.ts";
import { openId, RESPONSE_ITEM } from "./stored/stored-ids.ts";

/** A request for a response that a provider stores. */
export interface StoredRequest {
  readonly service: ChatService;
  /** The provider that stores it. */
  readonly storedBy: TargetSettings;
  /** Path of the stored response, without the client's query. */
  readonly path: EndpointPath;
  /** Owner of the response, who gets ids of its own; `undefined` if the ids are those of the provider. */
  readonly receiver: IdReceiver | undefined;
}

/** Serves a request for a stored response: unchanged, or with ids and guarded like the original response. */
export function serveStored(exchange: Exchange, request: StoredRequest): void {
  const { service, storedBy, path, receiver } = request;
  const { provider, guard } = storedBy;
  const { texts, timeout } = service;
  // Stored responses are requested by id, whatever their model.
  const own = typeof path === "string" ? path : path(provider.model ?? "", false);
  const query = receiver === undefined ? exchange.query : ownQuery(exchange.query, receiver);
  const whole = withQuery(own, query);
  const isGuarded = texts !== undefined && guard !== undefined && guard.response.length > 0;
  if (isGuarded || receiver !== undefined) {
    if (refuseMethod(exchange, service.errors, METHODS)) return;
    serveRead(exchange, { ...request, path: whole });
    return;
  }
  passTo(exchange, provider, { path: whole, ...(timeout !== undefined && { timeout }) });
}

/** Returns the query of a list, which may continue after an item of the caller. */
function ownQuery(query: string, { owner }: IdReceiver): string {
  const parameters = new URLSearchParams(query);
  const item = openId(owner, RESPONSE_ITEM, parameters.get("after") ?? "");
  if (item === undefined) return query;
  parameters.set("after", item.id);
  return parameters.toString();
}

const METHODS = ["GET", "POST", "DELETE"] as const;

interface ReadRequest extends StoredRequest {
  /** With its query. */
  readonly path: string;
}

function serveRead(exchange: Exchange, { service, storedBy, path, receiver }: ReadRequest): void {
  const { errors, keepAlive, timeout, providerHeader, texts } = service;
  const { provider } = storedBy;
  recordProvider(exchange, provider);
  const native = nativeTarget({ ...storedBy, path, format: responsesNative });
  const target = receiver === undefined ? native : givingIds(native, () => receiver);
  const call = new ChatCall({
    text: "{}",
    sent: { text: "", bytes: new Uint8Array() },
    members: [],
    model: undefined,
    isStream: queryValue(exchange.query, "stream") === "true",
    client: exchange,
    body: {},
  });
  const guards = texts && new CallGuards(exchange, call, texts);
  const guard = guards?.responseGuard(target, call);
  // The body is read, so that it must be uncompressed.
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
    // Its tokens were counted when it was created.
    settle: (outcome) => {
      if (outcome.kind === "failed") {
        respondFailedCall(exchange, { ...outcome, target }, { guards, errors }).catch((error) =>
          respondLateRefusal(exchange, error, errors),
        );
      } else if (guard !== undefined) guards?.settle(guard);
    },
  });
}

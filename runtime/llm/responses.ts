import type { Exchange, Handled } from "../http/exchange.ts";
import { noteRefusal } from "../http/refuse.ts";
import type { TriedCall } from "../policies/retry/tries.ts";
import type { ChatService } from "./calls/chat-service.ts";
import { nativeTarget } from "./calls/native-target.ts";
import { respondError } from "./calls/respond-error.ts";
import type { ConditionalChoice, EndpointPath, LlmTarget, TargetSettings } from "./calls/target.ts";
import { LlmRefusal } from "./chat/llm-error.ts";
import { responsesNative } from "./formats/responses/native.ts";
import { restOfPath } from "./path-rest.ts";
import { serveChat } from "./serve.ts";
import type { ApiIds } from "./stored/object-ids.ts";
import { ownerAt, withOwnIds } from "./stored/own-ids.ts";
import { openId } from "./stored/stored-ids.ts";
import { type StoredRequest, serveStored } from "./stored-responses.ts";

/** OpenAI's Responses API of a route, and the paths below it. */
export interface ResponsesService extends ChatService {
  /** Providers with the Responses API, which store responses. */
  readonly stores: readonly ResponseStore[];
  /** Ids of stored objects that belong to callers; absent if callers get the ids of the provider. */
  readonly ids?: ApiIds;
}

/** A provider that stores responses. */
export interface ResponseStore extends TargetSettings {
  /** Whether it also serves ids that the gateway did not give; absent if not. */
  readonly isOpen?: true;
}

/** Serves one request of the Responses API. `api`: path that creates responses. */
export function serveResponses(
  exchange: Exchange,
  service: ResponsesService,
  api: string,
  tried?: TriedCall,
): Handled {
  const rest = restOfPath(exchange.path, api) ?? "";
  if (exchange.upgrade?.toLowerCase() === "websocket") {
    // Codex opens a WebSocket first. After this status it sends requests at once, and after any other it repeats.
    const message = "responses are not served over WebSockets: send requests";
    noteRefusal(exchange, "BadRequest", message);
    respondError(exchange, { kind: "invalid", message, status: 426 }, service.errors);
    return;
  }
  if (rest === "") return serveChat(exchange, service, tried);
  if (DERIVED_PATHS.has(rest)) return serveDerived(exchange, service, rest, tried);
  const stored = storedAt(exchange, service, rest);
  if (stored !== undefined) {
    serveStored(exchange, { ...stored, service });
    return;
  }
  exchange.record.reason = "NotFound";
  const message = service.stores.length === 0 ? NO_STORE : "no such response";
  respondError(exchange, { kind: "invalid", message, status: 404 }, service.errors);
}

const NO_STORE = "no provider of this route stores responses";

/** Path that counts the tokens of a request without using any. */
const COUNT_PATH = "/input_tokens";

/** Paths that accept a request for a response, but return something else. */
const DERIVED_PATHS: ReadonlySet<string> = new Set(["/compact", COUNT_PATH]);

/** Serves a path that takes a request for a response: at the provider of its model. */
function serveDerived(
  exchange: Exchange,
  service: ResponsesService,
  rest: string,
  tried: TriedCall | undefined,
): Handled {
  const { ids, stores } = service;
  const targetAt = (store: ResponseStore): LlmTarget => {
    const path = pathBelow(store.path, rest);
    const target = nativeTarget({ ...store, path, format: responsesNative });
    return ids === undefined ? target : withOwnIds(target, ids);
  };
  const targets: ConditionalChoice = (model, request) => {
    if (model === undefined) return firstOpen(stores).map(targetAt);
    const chosen = service.targets(model, request);
    return chosen && derivedTargets(chosen, stores, targetAt);
  };
  const operation = rest === COUNT_PATH ? "count_tokens" : service.operation;
  return serveChat(exchange, { ...service, operation, targets }, tried);
}

/** Yields the targets of providers that have the paths of the API. Throws LlmRefusal if there is none. */
function* derivedTargets(
  chosen: Iterable<LlmTarget>,
  stores: readonly ResponseStore[],
  targetAt: (store: ResponseStore) => LlmTarget,
): Generator<LlmTarget, undefined> {
  let isServed = false;
  for (const { provider } of chosen) {
    const store = stores.find((each) => each.provider === provider);
    if (store === undefined) continue;
    isServed = true;
    yield targetAt(store);
  }
  if (!isServed) throw new LlmRefusal({ kind: "unsupported", message: NO_API, field: "model" });
}

const NO_API = "the provider of the model does not have this path";

/** Finds the provider of a stored response; `undefined` if the caller has no such response. */
function storedAt(
  exchange: Exchange,
  { ids, stores }: ResponsesService,
  rest: string,
): Omit<StoredRequest, "service"> | undefined {
  const [, id = "", below = ""] = /^\/([^/]+)(\/[^/]+)?$/.exec(rest) ?? [];
  const unknown: ResponseStore[] = [];
  for (const store of stores) {
    const { provider, path } = store;
    const owner = ids && ownerAt(exchange, provider);
    if (owner === undefined) {
      unknown.push(store);
      continue;
    }
    const place = openId(owner, "resp_", id);
    if (place?.provider !== provider.name || place.authority !== provider.upstream.authority)
      continue;
    const own = `/${encodeURIComponent(place.id)}${below}`;
    const receiver = ids?.responses && { owner, names: ids.responses, provider };
    return { storedBy: store, path: pathBelow(path, own), receiver };
  }
  const [first] = firstOpen(unknown);
  return first && { storedBy: first, path: pathBelow(first.path, rest), receiver: undefined };
}

function firstOpen(stores: readonly ResponseStore[]): readonly ResponseStore[] {
  return stores.filter(({ isOpen }) => isOpen === true).slice(0, 1);
}

/** Appends to the path of an API, before its query. */
function pathBelow(path: EndpointPath, rest: string): EndpointPath {
  if (typeof path !== "string") {
    return (model, isStream) => textBelow(path(model, isStream), rest);
  }
  return textBelow(path, rest);
}

function textBelow(path: string, rest: string): string {
  const at = path.indexOf("?");
  return at === -1 ? path + rest : path.slice(0, at) + rest + path.slice(at);
}

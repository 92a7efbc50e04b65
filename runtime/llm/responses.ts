import type { Exchange, Handled } from "../http/exchange.ts";
import type { TriedCall } from "../policies/retry/tries.ts";
import type { ChatService } from "./calls/chat-service.ts";
import { nativeTarget } from "./calls/native-target.ts";
import { respondError } from "./calls/respond-error.ts";
import type { EndpointPath, TargetSettings } from "./calls/target.ts";
import { responsesNative } from "./formats/responses/native.ts";
import { restOfPath } from "./path-rest.ts";
import { serveChat } from "./serve.ts";
import { serveStored } from "./stored-responses.ts";

/** OpenAI's Responses API of a route, and the paths below it. */
export interface ResponsesService extends ChatService {
  /** Provider with the Responses API that stores responses; absent if no provider does. */
  readonly storedBy?: TargetSettings;
}

/** Serves one request of the Responses API. `api`: path that creates responses. */
export function serveResponses(
  exchange: Exchange,
  service: ResponsesService,
  api: string,
  tried?: TriedCall,
): Handled {
  const rest = restOfPath(exchange.path, api) ?? "";
  if (rest === "") return serveChat(exchange, service, tried);
  const { storedBy } = service;
  if (storedBy === undefined) {
    exchange.record.reason = "NotFound";
    const message = "no provider of this route stores responses";
    respondError(exchange, { kind: "invalid", message, status: 404 }, service.errors);
    return;
  }
  const path = pathBelow(storedBy.path, rest);
  if (DERIVED_PATHS.has(rest)) {
    const target = nativeTarget({ ...storedBy, path, format: responsesNative });
    const operation = rest === COUNT_PATH ? "count_tokens" : service.operation;
    return serveChat(exchange, { ...service, operation, targets: () => [target] }, tried);
  }
  serveStored(exchange, { service, storedBy, path });
}

/** Path that counts the tokens of a request without using any. */
const COUNT_PATH = "/input_tokens";

/** Paths that accept a request for a response, but return something else. */
const DERIVED_PATHS: ReadonlySet<string> = new Set(["/compact", COUNT_PATH]);

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

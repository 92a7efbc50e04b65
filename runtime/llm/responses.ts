import type { Exchange, Handled } from "../http/exchange.ts";
import type { TriedCall } from "../policies/retry/tries.ts";
import type { ChatService } from "./calls/chat-service.ts";
import { nativeTarget } from "./calls/native-target.ts";
import { respondError } from "./calls/respond-error.ts";
import type { EndpointPath, TargetSettings } from "./calls/target.ts";
import { responsesNative } from "./formats/responses/native.ts";
import { serveKept } from "./kept-responses.ts";
import { restOfPath } from "./path-rest.ts";
import { serveChat } from "./serve.ts";

/** OpenAI's Responses API of a route: what is created, and what lies below that. */
export interface ResponsesService extends ChatService {
  /** The provider that has this API itself, and keeps what is created; absent: none has. */
  readonly keeper?: TargetSettings;
}

/** Serves one request of the Responses API. `api`: where responses are created. */
export function serveResponses(
  exchange: Exchange,
  service: ResponsesService,
  api: string,
  tried?: TriedCall,
): Handled {
  const rest = restOfPath(exchange.path, api) ?? "";
  if (rest === "") return serveChat(exchange, service, tried);
  const { keeper } = service;
  if (keeper === undefined) {
    exchange.record.reason = "NotFound";
    const message = "no provider of this route keeps responses";
    respondError(exchange, { kind: "invalid", message, status: 404 }, service.errors);
    return;
  }
  const path = pathBelow(keeper.path, rest);
  if (ASKING.has(rest)) {
    const target = nativeTarget({ ...keeper, path, format: responsesNative });
    const operation = rest === COUNT_PATH ? "count_tokens" : service.operation;
    return serveChat(exchange, { ...service, operation, targets: () => [target] }, tried);
  }
  serveKept(exchange, { service, keeper, path });
}

/** Counts the tokens of a request, and uses none. */
const COUNT_PATH = "/input_tokens";

/** What takes a request for a response, and makes something else of it. */
const ASKING: ReadonlySet<string> = new Set(["/compact", COUNT_PATH]);

/** The path of what lies below an API; the query of that stays. */
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

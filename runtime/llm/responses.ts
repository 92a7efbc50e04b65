import type { Exchange } from "../http/exchange.ts";
import { respondError } from "./calls/respond-error.ts";
import type { EndpointPath, LlmTarget } from "./calls/target.ts";
import { passTo } from "./pass-through.ts";
import { restOfPath } from "./path-rest.ts";
import { type ChatService, serveChat } from "./serve.ts";

/** OpenAI's Responses API of a route: what is created, and what lies below that. */
export interface ResponsesService extends ChatService {
  /** Where responses are created. */
  readonly path: string;
  /** The provider that has this API itself and keeps what it creates; absent: none has. */
  readonly keeper?: LlmTarget;
}

/** Serves one request of the Responses API. */
export async function serveResponses(exchange: Exchange, service: ResponsesService): Promise<void> {
  const rest = restOfPath(exchange.path, service.path) ?? "";
  if (rest === "") return serveChat(exchange, service);
  const { keeper } = service;
  if (keeper === undefined) {
    exchange.record.reason = "NotFound";
    const message = "no provider of this route keeps responses";
    respondError(exchange, { kind: "invalid", message, status: 404 }, service.errors);
    return;
  }
  const { provider, path } = keeper;
  const below: EndpointPath =
    typeof path === "string"
      ? pathBelow(path, rest)
      : (model, isStream) => pathBelow(path(model, isStream), rest);
  if (asking.has(rest)) {
    const target: LlmTarget = { ...keeper, path: below };
    return serveChat(exchange, { ...service, targets: () => [target] });
  }
  // What is kept is asked for by its id, whatever its model was.
  const { query } = exchange;
  const target = typeof below === "string" ? below : below(provider.model ?? "", false);
  const parameters = query === "" ? "" : `${target.includes("?") ? "&" : "?"}${query}`;
  return passTo(exchange, provider, target + parameters);
}

/** What takes a request for a response, and makes something else of it. */
const asking: ReadonlySet<string> = new Set(["/compact", "/input_tokens"]);

/** The path of what lies below an API; its query stays. */
function pathBelow(path: string, rest: string): string {
  const at = path.indexOf("?");
  return at === -1 ? path + rest : path.slice(0, at) + rest + path.slice(at);
}

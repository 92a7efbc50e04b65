import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import { isSpecified, sessionMethods, statelessMethods } from "../protocol/methods.ts";
import { respondRpcError, rpcCode } from "../protocol/rpc-response.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import type { SessionContext } from "../session/session-context.ts";
import type { McpBackend } from "../transports/backend.ts";
import { directTargets } from "./direct-targets.ts";
import { serveDiscover } from "./serve-discover.ts";
import { serveRequest } from "./serve-session.ts";
import { serveSubscription } from "./subscription.ts";

/** Serves a message of a client without sessions where the gateway stands between it and several targets, or children. */
export function serveStatelessRequest(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  message: Message,
): void {
  if (message.kind !== "request") {
    // The end of a request is said by its connection.
    exchange.respond(202, []);
    return;
  }
  if (isMissing(backend, message)) {
    const error = { code: rpcCode.methodNotFound, message: "Method not found" };
    respondRpcError(exchange, 404, "MCP", { id: message.id, ...error });
    return;
  }
  const targets = directTargets(exchange, backend, access);
  const session = {
    initialize: undefined,
    isEnded: false,
    targets,
    streams: new Set<() => void>(),
  };
  const context: SessionContext = { exchange, backend, access, session };
  switch (message.method) {
    case "server/discover":
      serveDiscover(context, message);
      return;
    case "subscriptions/listen":
      serveSubscription(context, message);
      return;
    default:
      serveRequest(context, message);
  }
}

/** Tasks have ids that no target of several can be told by; methods of sessions are gone, whatever a target has. */
function isMissing({ prefix }: McpBackend, message: Message): boolean {
  if (prefix && message.method.startsWith("tasks/")) return true;
  return isSpecified(sessionMethods, message) && !isSpecified(statelessMethods, message);
}

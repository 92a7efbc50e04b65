import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import { isSpecified, sessionMethods, statelessMethods } from "../protocol/methods.ts";
import { respondRpcError, unknownMethod } from "../protocol/rpc-response.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import type { SessionContext } from "../session/session-context.ts";
import type { McpBackend } from "../transports/backend.ts";
import { directSession, directTargets } from "./direct-targets.ts";
import { serveDiscover } from "./serve-discover.ts";
import { serveRequest } from "./serve-session.ts";
import { serveSubscription } from "./subscription.ts";

/** Serves a message of a client without sessions where the gateway has several targets, or children. */
export function serveStatelessRequest(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  message: Message,
): void {
  if (message.kind !== "request") {
    // Closing the connection cancels a request.
    exchange.respond(202, []);
    return;
  }
  const targets = directTargets(exchange, backend, access);
  const session = directSession(targets);
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

/**
 * Refuses a request whose method does not exist, whatever its params are. With several targets, neither a method that the
 * revision does not define nor a task id identifies the target. Methods of sessions do not exist for any target.
 */
export function refuseUnknownMethod(
  exchange: Exchange,
  { prefix }: McpBackend,
  message: Message,
): boolean {
  if (message.kind !== "request") return false;
  const isGone = prefix || isSpecified(sessionMethods, message);
  const isTask = prefix && message.method.startsWith("tasks/");
  if (!isTask && (!isGone || isSpecified(statelessMethods, message))) return false;
  respondRpcError(exchange, 404, "MCP", { id: message.id, ...unknownMethod });
  return true;
}

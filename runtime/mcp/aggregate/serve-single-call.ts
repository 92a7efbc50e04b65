import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import { respondRpc, respondRpcError, rpcCode, rpcResult } from "../protocol/rpc-response.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import type { McpBackend, StatelessBridge } from "../transports/backend.ts";
import { directSession, singleCallTargets } from "./direct-targets.ts";
import { serveInitialize } from "./initialize.ts";
import { serveRequest } from "./serve-session.ts";

/** Serves a message of a client with sessions where the gateway stores none: each request opens its own. */
export function serveSingleCall(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  bridge: StatelessBridge,
  message: Message,
): void {
  if (message.kind !== "request") {
    // Its session has already ended.
    exchange.respond(202, []);
    return;
  }
  if (message.method === "initialize") {
    serveInitialize(exchange, backend, access, message);
    return;
  }
  if (message.method === "ping") {
    respondRpc(exchange, 200, rpcResult(message.id, "{}"));
    return;
  }
  if (OF_SESSIONS.has(message.method)) {
    const error = {
      code: rpcCode.methodNotFound,
      message: "Method not found: this server is stateless",
    };
    respondRpcError(exchange, 200, "MCP", { id: message.id, ...error });
    return;
  }
  const targets = singleCallTargets(exchange, backend, access, bridge);
  serveRequest({ exchange, backend, access, session: directSession(targets) }, message);
}

/** Methods that change the rest of a session or depend on an earlier request in it. */
const OF_SESSIONS: ReadonlySet<string> = new Set([
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/cancel",
]);

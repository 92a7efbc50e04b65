import type { Exchange } from "../../http/exchange.ts";
import type { McpBackend } from "../transports/backend.ts";
import { openSseTransport } from "../transports/sse-transport.ts";
import { openStdioTransport } from "../transports/stdio-transport.ts";
import type { LiveTarget, TargetFailure } from "../transports/target.ts";
import { TargetConnection } from "../transports/target-connection.ts";
import { headersForTarget } from "../transports/upstream-headers.ts";
import type { LiveParts } from "./session.ts";
import { sessionTable } from "./session-table.ts";

/** A connection, or why there is none. */
export type OpenedConnection =
  | { readonly connection: TargetConnection }
  | { readonly failure: TargetFailure };

/**
 * Starts a child, or opens an SSE stream, as a part of a session. When it ends by itself later on, the session ends with it
 * and the client opens a new one; under failOpen the other targets go on.
 */
export function openConnection(
  exchange: Exchange,
  backend: McpBackend,
  target: LiveTarget,
  live: LiveParts,
): OpenedConnection {
  const table = sessionTable(exchange.gateway);
  const host = table.host(exchange.gateway, backend.limits.message);
  try {
    const connection = new TargetConnection({
      name: target.name,
      callTimeout: backend.timeouts.call,
      host,
      open: (events) => {
        if (target.kind === "stdio") return openStdioTransport(target, host, events);
        const headers = headersForTarget(exchange, target);
        return target.kind === "sse"
          ? openSseTransport(target, headers, host, events)
          : target.open(headers, host, events);
      },
      onGone: () => {
        if (live.isEstablished && backend.failureMode === "failClosed") table.closeLive(live);
      },
    });
    live.connections.push(connection);
    return { connection };
  } catch (error) {
    // spawn refuses some arguments at once (a NUL in them).
    const detail = error instanceof Error ? error.message : String(error);
    return { failure: { kind: "connect", detail } };
  }
}

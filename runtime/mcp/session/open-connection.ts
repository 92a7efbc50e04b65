import type { Exchange } from "../../http/exchange.ts";
import { withoutHeaders } from "../../http/headers/header-list.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { CONTEXT_FIELDS } from "../protocol/envelope.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import type { McpBackend } from "../transports/backend.ts";
import { openSseTransport } from "../transports/sse-transport.ts";
import { openStdioTransport } from "../transports/stdio-transport.ts";
import type { LiveTarget, StdioCommand } from "../transports/target.ts";
import { TargetConnection } from "../transports/target-connection.ts";
import type { Transport, TransportEvents, TransportHost } from "../transports/transport.ts";
import { headersForTarget } from "../transports/upstream-headers.ts";
import type { LiveParts } from "./session.ts";
import { sessionTable } from "./session-table.ts";

/** A connection, or why it could not be opened. */
export type OpenedConnection =
  | { readonly connection: TargetConnection }
  | { readonly failure: TargetFailure };

/**
 * Starts a child or opens an SSE stream as part of a session. If it later ends by itself, the session ends too and the
 * client opens a new one; under failOpen the session continues with the other targets.
 */
export function openConnection(
  exchange: Exchange,
  backend: McpBackend,
  target: LiveTarget,
  live: LiveParts,
): OpenedConnection {
  const { gateway } = exchange;
  if (target.kind === "stdio") return openChild(gateway, backend, target, live);
  return open(gateway, backend, target.name, live, (host, events) => {
    const headers = withoutHeaders(headersForTarget(exchange, target), CONTEXT_HEADERS);
    return target.kind === "sse"
      ? openSseTransport(target, headers, host, events)
      : target.open(headers, host, events);
  });
}

/** These headers belong to the request that opens the connection; later messages carry their own trace context. */
const CONTEXT_HEADERS: ReadonlySet<string> = new Set(CONTEXT_FIELDS);

/** The settings that a connection depends on. */
export type ConnectionUse = Pick<McpBackend, "limits" | "timeouts" | "failureMode">;

/** Starts a child, which needs no client request. */
export function openChild(
  gateway: GatewayContext,
  use: ConnectionUse,
  target: StdioCommand,
  live: LiveParts,
): OpenedConnection {
  return open(gateway, use, target.name, live, (host, events) =>
    openStdioTransport(target, host, events),
  );
}

function open(
  gateway: GatewayContext,
  { limits, timeouts, failureMode }: ConnectionUse,
  name: string,
  live: LiveParts,
  openTransport: (host: TransportHost, events: TransportEvents) => Transport,
): OpenedConnection {
  const table = sessionTable(gateway);
  const host = table.host(gateway, limits.message);
  try {
    const connection = new TargetConnection({
      name,
      callTimeout: timeouts.call,
      host,
      open: (events) => openTransport(host, events),
      onGone: () => {
        if (live.isEstablished && failureMode === "failClosed") table.closeLive(live);
      },
    });
    live.connections.push(connection);
    return { connection };
  } catch (error) {
    // spawn throws for some arguments (a NUL in them).
    const detail = error instanceof Error ? error.message : String(error);
    return { failure: { kind: "connect", detail } };
  }
}

import type { Socket } from "node:net";
import type { RefusalReason } from "../http/exchange.ts";
import { plainAddress } from "../net/connected-client.ts";
import type { RuleVerdict } from "../policies/rule-verdict.ts";
import { bugText } from "../process/bug-text.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { reset } from "./reset.ts";

/** A client connection whose bytes are forwarded, as generated code sees it. */
export interface Connection {
  readonly gateway: GatewayContext;
  /** Server name of the client's TLS handshake (SNI), lower case; `undefined` without TLS or a name. */
  readonly serverName: string | undefined;
  /** Address of the client, as the connection has it. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly record: ConnectionRecord;
  /** The client's socket. Nothing reads from it yet. */
  readonly socket: Socket;
  /** Bytes received so far, which are forwarded before everything else. */
  first: readonly Buffer[];
}

/** Further data of a connection for the access log and the metrics. */
export interface ConnectionRecord {
  listener: string | undefined;
  route: string | undefined;
  /** `host:port` of the backend. */
  upstream: string | undefined;
  /** Why it was not forwarded, or ended early. */
  reason: RefusalReason | undefined;
  /** For the log only. */
  error: string | undefined;
  /** Bytes received from the client, and sent to it. */
  received: number;
  sent: number;
}

/** Forwards the connections of a listener or a route; a promise if policies wait. */
export type ConnectionHandler = (connection: Connection) => void | Promise<void>;

/** A client's connection. */
export class ClientConnection implements Connection {
  readonly started = performance.now();
  readonly gateway: GatewayContext;
  readonly socket: Socket;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly record: ConnectionRecord = {
    listener: undefined,
    route: undefined,
    upstream: undefined,
    reason: undefined,
    error: undefined,
    received: 0,
    sent: 0,
  };
  serverName: string | undefined;
  first: readonly Buffer[] = [];

  constructor(socket: Socket, gateway: GatewayContext) {
    this.socket = socket;
    this.gateway = gateway;
    this.remoteAddress = plainAddress(socket.remoteAddress);
    this.remotePort = socket.remotePort ?? 0;
  }
}

/** Records the listener and route of a connection and calls the route's handler. */
export function dispatchConnection(
  connection: Connection,
  listener: string,
  route: string,
  handler: ConnectionHandler,
): void {
  connection.record.listener = listener;
  connection.record.route = route;
  handler(connection)?.catch((error: unknown) => {
    connection.gateway.warn(bugText(error));
    reset(connection.socket);
  });
}

/** Aborts a connection that is not forwarded: a clean end would look like an empty response. `error` is for the log. */
export function refuseConnection(
  { record, socket }: Connection,
  reason: RefusalReason,
  error: string,
): void {
  record.reason = reason;
  record.error = error;
  reset(socket);
}

/** Aborts a connection that the route's rules do not allow. */
export function denyConnection(connection: Connection, { rule }: RuleVerdict): void {
  refuseConnection(connection, "Authorization", `not allowed by ${rule}`);
}

/**
 * Aborts a connection whose server name matches no listener or route (Gateway API 1.5: unmatched connections of a TLSRoute are
 * rejected; its conformance tests expect no alert).
 */
export function noSuchServer(connection: Connection): void {
  refuseConnection(connection, "NotFound", "no route for this server name");
}

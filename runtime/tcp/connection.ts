import type { Socket } from "node:net";
import type { RefusalReason } from "../http/exchange.ts";
import { plainAddress } from "../net/connected-client.ts";
import type { RuleVerdict } from "../policies/rule-verdict.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { reset } from "./reset.ts";

/** One connection of a client whose bytes are passed on, as generated code sees it. */
export interface Connection {
  readonly gateway: GatewayContext;
  /** The server that the client named in its TLS handshake (SNI), lower case; undefined without TLS or a name. */
  readonly serverName: string | undefined;
  /** The client's address, as the connection has it. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly record: ConnectionRecord;
  /** The client's end of it. Nothing reads from it yet. */
  readonly socket: Socket;
  /** What the client has sent so far, which goes on before everything else. */
  readonly first: readonly Buffer[];
}

/** What the access log and the metrics say about a connection beyond its two ends. */
export interface ConnectionRecord {
  listener: string | undefined;
  route: string | undefined;
  /** `host:port` of the backend. */
  upstream: string | undefined;
  /** Why it was not passed on, or ended early. */
  reason: RefusalReason | undefined;
  /** For the log only. */
  error: string | undefined;
  /** Bytes from the client, and to it. */
  received: number;
  sent: number;
}

/** Passes the bytes of a listener's or a route's connections on. */
export type ConnectionHandler = (connection: Connection) => void;

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

/** Notes which listener and route a connection belongs to, and hands it to the route. */
export function dispatchConnection(
  connection: Connection,
  listener: string,
  route: string,
  handler: ConnectionHandler,
): void {
  connection.record.listener = listener;
  connection.record.route = route;
  handler(connection);
}

/** Breaks a connection off that is not passed on: a clean end would look like an empty response. `error` is for the log. */
export function refuseConnection(
  { record, socket }: Connection,
  reason: RefusalReason,
  error: string,
): void {
  record.reason = reason;
  record.error = error;
  reset(socket);
}

/** Breaks a connection off that the route's rules do not allow. */
export function denyConnection(connection: Connection, { rule }: RuleVerdict): void {
  refuseConnection(connection, "Authorization", `not allowed by ${rule}`);
}

/**
 * No listener or no route answers for the server that the client named: the connection is broken off (Gateway API 1.5: a
 * TLSRoute's connections that nothing matches are rejected, and its conformance tests take no alert for that).
 */
export function noSuchServer(connection: Connection): void {
  refuseConnection(connection, "NotFound", "no route for this server name");
}

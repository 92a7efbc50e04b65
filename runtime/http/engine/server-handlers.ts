import type { ConnectionRules } from "../../net/connected-client.ts";
import type { ConnectionSettings } from "../../net/connection-settings.ts";
import type { PreparedDivision } from "../../net/port-server.ts";
import type { ProxyProtocol } from "../../net/proxy-protocol/proxy-protocol.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { FailedHandshake } from "../../tls/handshakes.ts";
import type { Exchange, Handled } from "../exchange.ts";
import type { ServeRequest } from "./engine.ts";

/** Handlers of a server's requests and connections. */
export interface ServerHandlers {
  /** Routes a request and responds to it. */
  readonly handle: (exchange: Exchange) => Handled;
  /** Called with each exchange before it is handled. */
  readonly began: (exchange: Exchange) => void;
  /** Whether clients may send targets in absolute form: `GET http://host/path`. */
  readonly isForwardProxy: boolean;
  /** Whether clients may request tunnels: CONNECT. */
  readonly takesTunnels: boolean;
  /** Whether a listener of the port forwards paths as received. */
  readonly keepsPaths: boolean;
  /** Rules for clients; `undefined` if all may connect. */
  readonly connectionRules: ConnectionRules | undefined;
  /** A client was not allowed to connect by this rule. */
  readonly denied: (rule: string, client: DeniedClient) => void;
  /** A TLS handshake has failed. */
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  /** PROXY protocol of the port; `undefined` if clients connect directly. */
  readonly proxyProtocol: ProxyProtocol | undefined;
  /** Divides TLS connections by server name; `undefined` if all use the settings of the port. */
  readonly division: PreparedDivision | undefined;
  /**
   * Called once when an exchange has ended, after `duration` milliseconds. `status` is `undefined` if the client left without a
   * response.
   */
  readonly ended: (exchange: Exchange, status: number | undefined, duration: number) => void;
  /** A handler threw: a bug, or an unexpected failure. */
  readonly failed: (exchange: Exchange, error: unknown) => void;
  /** A client sent a request that the parser refused: there is no exchange to report. */
  readonly malformed: () => void;
  /** A connection was closed because the port has its maximum. */
  readonly refused: () => void;
  /** Warns the operator, for example of an unusable certificate. */
  readonly warn: (message: string) => void;
  /** Receives why a connection was aborted, if the log wants to know. */
  readonly broken: ((message: string) => void) | undefined;
  /** Handover of requests between threads; `undefined` if all are served here. */
  readonly handover: PortHandover | undefined;
  /** Settings of new connections; open ones keep theirs. */
  readonly connections: ConnectionSettings;
}

/** The port of a request. */
export interface RequestPort {
  readonly handlers: () => ServerHandlers;
  readonly gateway: GatewayContext;
}

/** A port that several threads of a process share (handover/handover.ts). */
export interface PortHandover {
  /** Serves the requests of other threads' connections on this port. */
  open(port: RequestPort): void;
  /** Returns true if another thread handles the request. */
  takes(...request: Parameters<ServeRequest>): boolean;
}

/** A client that was not allowed to connect. */
export interface DeniedClient {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Returns the status of a port's response to CONNECT (RFC 9110 9.3.6); `undefined` if the port takes tunnels. */
export function tunnelRefusal({
  isForwardProxy,
  takesTunnels,
}: Pick<ServerHandlers, "isForwardProxy" | "takesTunnels">): 400 | 501 | undefined {
  if (takesTunnels) return undefined;
  return isForwardProxy ? 501 : 400;
}

import type { ConnectionRules } from "../../net/connected-client.ts";
import type { ConnectionSettings } from "../../net/connection-settings.ts";
import type { PreparedDivision } from "../../net/port-server.ts";
import type { ProxyProtocol } from "../../net/proxy-protocol/proxy-protocol.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { FailedHandshake } from "../../tls/handshakes.ts";
import type { Exchange, Handled } from "../exchange.ts";
import type { ServeRequest } from "./engine.ts";

/** What a server does with requests. */
export interface ServerHandlers {
  /** Routes one request and responds to it. */
  readonly handle: (exchange: Exchange) => Handled;
  /** Called with each exchange before it is handled. */
  readonly began: (exchange: Exchange) => void;
  /** Whether clients may send targets in absolute form: `GET http://host/path`. */
  readonly isForwardProxy: boolean;
  /** Whether clients may ask for tunnels: CONNECT. */
  readonly takesTunnels: boolean;
  /** Whether a listener of the port forwards paths as they are sent. */
  readonly keepsPaths: boolean;
  /** Who may connect; undefined: everybody. */
  readonly connectionRules: ConnectionRules | undefined;
  /** A client was not allowed to connect, by this rule. */
  readonly denied: (rule: string, client: DeniedClient) => void;
  /** A handshake of TLS has failed. */
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  /** Proxies say for whom connections are made; undefined: connections are their clients' own. */
  readonly proxyProtocol: ProxyProtocol | undefined;
  /** Divides connections by server name; undefined: all TLS ends with the settings of the port. */
  readonly division: PreparedDivision | undefined;
  /**
   * Called once when an exchange has ended, after `duration` milliseconds. `status` is undefined when the client left
   * without a response.
   */
  readonly ended: (exchange: Exchange, status: number | undefined, duration: number) => void;
  /** A handler threw: a bug, or a failure nobody foresaw. */
  readonly failed: (exchange: Exchange, error: unknown) => void;
  /** A client sent what the parser refused: there is no exchange to report. */
  readonly malformed: () => void;
  /** A connection was closed at once: the port has as many as it may have. */
  readonly refused: () => void;
  /** Something the operator should know: a certificate that can't be used. */
  readonly warn: (message: string) => void;
  /** Why a connection was broken off, for a log that wants to know. */
  readonly broken: ((message: string) => void) | undefined;
  /** Requests of other threads, and for them; undefined: whatever comes is served here. */
  readonly handover: PortHandover | undefined;
  /** How connections are held; those that are open keep what they were opened with. */
  readonly connections: ConnectionSettings;
}

/** Where a request came in. */
export interface RequestPort {
  readonly handlers: () => ServerHandlers;
  readonly gateway: GatewayContext;
}

/** A port that several threads of a process have (handover/handover.ts). */
export interface PortHandover {
  /** Where this thread serves what came to another one. */
  open(port: RequestPort): void;
  /** True: another thread sees the request through. */
  takes(...request: Parameters<ServeRequest>): boolean;
}

/** Who was not allowed to connect. */
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

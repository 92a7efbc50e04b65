import type { Socket } from "node:net";
import { type ConnectionRules, forbiddingRule } from "../net/connected-client.ts";
import type { KeepAliveSettings } from "../net/connection-settings.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import {
  ClientConnection,
  type Connection,
  type ConnectionHandler,
  refuseConnection,
} from "./connection.ts";

/** What becomes of connections whose bytes are passed on. */
export interface TcpConnectionHandlers {
  readonly handle: ConnectionHandler;
  /** Who may connect; undefined: everybody. */
  readonly connectionRules: ConnectionRules | undefined;
  /** A client was not allowed to connect, by this rule. */
  readonly denied: (rule: string) => void;
  readonly keepAlive: KeepAliveSettings;
  /** Called once when a connection has ended, after `duration` milliseconds. */
  readonly ended: (connection: Connection, duration: number) => void;
  /** A handler threw: a bug. */
  readonly failed: (error: unknown) => void;
}

/** How long a connection may be silent once the port closes; milliseconds. Nobody knows what it waits for. */
const SILENCE = 5000;

/** The connections of a port whose bytes are passed on. */
export class TcpConnections {
  readonly #gateway: GatewayContext;
  readonly #open: Set<ClientConnection> = new Set();

  constructor(gateway: GatewayContext) {
    this.#gateway = gateway;
  }

  /** A connection that has come; undefined: its client may not connect, and it is broken off. */
  admit(socket: Socket, handlers: TcpConnectionHandlers): ClientConnection | undefined {
    const connection = new ClientConnection(socket, this.#gateway);
    const { time, interval, retries } = handlers.keepAlive;
    socket.setKeepAlive(true, time, interval, retries);
    // Who passes its bytes on has a listener of its own.
    socket.on("error", () => {});
    this.#open.add(connection);
    socket.on("close", () => {
      this.#open.delete(connection);
      handlers.ended(connection, performance.now() - connection.started);
    });
    const rule = forbiddingRule(socket, handlers.connectionRules);
    if (rule === undefined) return connection;
    handlers.denied(rule);
    refuseConnection(connection, "Authorization", `not allowed by ${rule}`);
    return undefined;
  }

  /** Hands a connection on whose server name is known. */
  pass(connection: ClientConnection, { handle, failed }: TcpConnectionHandlers): void {
    try {
      handle(connection);
    } catch (error) {
      failed(error);
      refuseConnection(connection, "Internal", "internal error");
    }
  }

  /**
   * Ends connections that have passed nothing on for a while: of the others it is for their ends to say. Goes on until the
   * function is called that it gives.
   */
  endSilent(): () => void {
    let before = new Map<ClientConnection, number>();
    const look = () => {
      const now = new Map<ClientConnection, number>();
      for (const connection of this.#open) {
        const { received, sent } = connection.record;
        now.set(connection, received + sent);
        if (before.get(connection) !== received + sent) continue;
        connection.record.reason ??= "Draining";
        connection.socket.destroySoon();
      }
      before = now;
    };
    look();
    const timer = setInterval(look, SILENCE);
    return () => clearInterval(timer);
  }

  /** Breaks them all off. */
  destroy(): void {
    for (const { record, socket } of this.#open) {
      record.reason ??= "Draining";
      socket.destroy();
    }
  }
}

import type { Socket } from "node:net";
import type { ConnectionRules } from "../net/connected-client.ts";
import type { KeepAlive } from "../net/connection-settings.ts";
import { setKeepAlive } from "../net/socket-reads.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import {
  ClientConnection,
  type Connection,
  type ConnectionHandler,
  refuseConnection,
} from "./connection.ts";

/** Handlers of forwarded connections. */
export interface TcpConnectionHandlers {
  readonly handle: ConnectionHandler;
  /** Rules for clients; `undefined` if all may connect. */
  readonly connectionRules: ConnectionRules | undefined;
  /** A client was not allowed to connect by this rule. */
  readonly denied: (rule: string) => void;
  readonly keepAlive: KeepAlive;
  /** Called once when a connection has ended, after `duration` milliseconds. */
  readonly ended: (connection: Connection, duration: number) => void;
  /** A handler threw: a bug. */
  readonly failed: (error: unknown) => void;
}

/** Milliseconds that a connection may be silent once the port has closed. There is no way to know what it waits for. */
const SILENCE = 5000;

/** Forwarded connections of a port. */
export class TcpConnections {
  readonly #gateway: GatewayContext;
  readonly #open: Set<ClientConnection> = new Set();

  constructor(gateway: GatewayContext) {
    this.#gateway = gateway;
  }

  /** Continues with a new connection whose client may connect, and aborts the others. */
  admit(
    socket: Socket,
    handlers: TcpConnectionHandlers,
    then: (connection: ClientConnection) => void,
  ): void {
    const connection = new ClientConnection(socket, this.#gateway);
    setKeepAlive(socket, handlers.keepAlive);
    // The handler has a listener of its own.
    socket.on("error", () => {});
    this.#open.add(connection);
    socket.on("close", () => {
      this.#open.delete(connection);
      handlers.ended(connection, performance.now() - connection.started);
    });
    const { connectionRules, denied } = handlers;
    const allowed = () => then(connection);
    if (connectionRules === undefined) {
      allowed();
      return;
    }
    connectionRules.judge(socket, this.#gateway.metrics, allowed, (rule) => {
      denied(rule);
      refuseConnection(connection, "Authorization", `not allowed by ${rule}`);
    });
  }

  /** Passes on a connection whose server name is known. */
  pass(connection: ClientConnection, { handle, failed }: TcpConnectionHandlers): void {
    try {
      handle(connection);
    } catch (error) {
      failed(error);
      refuseConnection(connection, "Internal", "internal error");
    }
  }

  /** Ends connections that forward nothing for a while, until the returned function is called. The others end themselves. */
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

  /** Aborts all connections. */
  destroy(): void {
    for (const { record, socket } of this.#open) {
      record.reason ??= "Draining";
      socket.destroy();
    }
  }
}

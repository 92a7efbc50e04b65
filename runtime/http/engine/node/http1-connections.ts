import type { Socket } from "node:net";
import type { ConnectionSettings } from "../../../net/connection-settings.ts";
import { Deadlines } from "../../../net/deadlines.ts";
import { ReadMemory } from "../../../net/socket-reads.ts";
import type { WriteBatch } from "../../../net/write-batch.ts";
import { SECOND } from "../../../process/units.ts";
import {
  type Http1Port,
  Http1ServerConnection,
  type PlainConnection,
} from "./http1-server-connection.ts";

/** What the connections need of the port they belong to. */
export interface Http1ConnectionsPort
  extends Pick<Http1Port, "serve" | "malformed" | "broken" | "writes"> {
  readonly settings: () => ConnectionSettings;
  /** Why a tunnel is refused; undefined: clients may ask for one. */
  readonly tunnelRefusal: () => 400 | 501 | undefined;
}

/** The most bytes of a read of something short: most requests are read whole. */
const READ_SIZE = 65_536;

/** The HTTP/1.1 connections of a port, and those that have said nothing yet. */
export class Http1Connections implements Http1Port {
  readonly deadlines = new Deadlines<PlainConnection>();
  readonly writes: WriteBatch;
  readonly memory: ReadMemory = new ReadMemory(READ_SIZE);
  isClosing = false;
  readonly serve: Http1Port["serve"];
  readonly malformed: Http1Port["malformed"];
  readonly broken: Http1Port["broken"];
  readonly #port: Http1ConnectionsPort;
  /** The lines for the idle timeout that was the last one asked for. */
  #keptLines = "";
  #keptTime: number | undefined;

  constructor(port: Http1ConnectionsPort) {
    this.#port = port;
    this.writes = port.writes;
    this.serve = port.serve;
    this.malformed = port.malformed;
    this.broken = port.broken;
  }

  get idleTimeout(): number {
    return this.#port.settings().idleTimeout;
  }

  get keptLines(): string {
    const { idleTimeout } = this;
    if (idleTimeout !== this.#keptTime) {
      this.#keptTime = idleTimeout;
      const seconds = Math.floor(idleTimeout / SECOND);
      this.#keptLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`;
    }
    return this.#keptLines;
  }

  get tunnelRefusal(): 400 | 501 | undefined {
    return this.#port.tunnelRefusal();
  }

  /** Takes a connection whose client speaks HTTP/1.1; nothing of it was read, or what was is back in the socket. */
  accept(socket: Socket): void {
    const connection = new Http1ServerConnection(socket, this, this.#port.settings().maxDuration);
    this.deadlines.add(connection);
  }

  gone(connection: Http1ServerConnection): void {
    this.deadlines.delete(connection);
  }

  /** Closes connections as soon as they are idle. */
  close(): void {
    this.isClosing = true;
    this.deadlines.visit((connection) => connection.closeIdle());
  }

  /** Breaks every connection off. */
  destroy(): void {
    this.deadlines.visit(({ socket }) => socket.destroy());
  }
}

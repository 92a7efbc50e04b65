import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { ignoreError } from "../net/socket-reads.ts";
import { receiveClientHello } from "./client-hello.ts";

/** Handlers of a connection whose ClientHello is awaited. */
interface HelloHandlers {
  /** Starts the handshake, with all received bytes back in the socket. */
  readonly start: () => void;
  /** Receives Node's code if there is no handshake. The socket may be destroyed already. */
  readonly failed: (code: "ERR_TLS_HANDSHAKE_TIMEOUT" | "ECONNRESET") => void;
}

/**
 * Server names that clients request, read before their handshakes. If a session of TLS 1.2 is resumed, OpenSSL reports the name
 * in the session, which has none because Node chooses certificates after OpenSSL would have stored it. Without the name, a
 * resumed connection is one for no name: it gets 421, or a neighbor's routes.
 */
export class RequestedNames {
  readonly #names = new WeakMap<Socket, string>();

  /** Reads the server name of a connection, for at most `timeout` milliseconds. */
  read(socket: Socket, timeout: number, { start, failed }: HelloHandlers): void {
    const left = () => failed("ECONNRESET");
    socket.on("error", ignoreError);
    socket.once("close", left);
    receiveClientHello(socket, timeout, (hello) => {
      socket.off("close", left);
      if (hello.kind === "none") {
        failed(hello.isTimeout ? "ERR_TLS_HANDSHAKE_TIMEOUT" : "ECONNRESET");
        return;
      }
      if (hello.kind === "hello" && hello.serverName !== undefined)
        this.#names.set(socket, hello.serverName);
      socket.off("error", ignoreError);
      for (const bytes of hello.bytes.reverse()) socket.unshift(bytes);
      start();
    });
  }

  /** Sets the server name of a connection whose handshake resumed a session. `below`: the connection that was read. */
  complete(socket: TLSSocket, below: Socket): void {
    const name = this.#names.get(below);
    if (name === undefined || socket.servername || !socket.isSessionReused()) return;
    Object.assign(socket, { servername: name });
  }
}

import type { Socket } from "node:net";
import { createServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { Certificates } from "./certificates.ts";
import { handshakeOptions } from "./handshake.ts";
import type { FailedHandshake } from "./handshakes.ts";

/** TLS settings for some server names of a port. */
export interface NamedEndSettings {
  readonly certificates: Certificates;
  /** Content of the TLS connections: HTTP requests, or bytes that are forwarded. */
  readonly carries: "requests" | "connections";
}

/** Handlers of the connections. */
export interface NamedEndHandlers {
  readonly secured: (socket: TLSSocket) => void;
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  readonly warn: (message: string) => void;
}

/**
 * Terminates TLS on connections that another server has accepted. Its session tickets have a key of their own: otherwise a
 * session of another server name could be resumed here without the required client certificate.
 */
export class NamedEnd {
  readonly #server: TlsServer;
  readonly #certificates: Certificates;

  constructor(
    { certificates, carries }: NamedEndSettings,
    { secured, failedHandshake, warn }: NamedEndHandlers,
    { metrics }: GatewayContext,
  ) {
    const own =
      carries === "connections" ? { allowHalfOpen: true } : { ALPNProtocols: ["http/1.1"] };
    const server = createServer({
      noDelay: true,
      ...own,
      ...handshakeOptions(certificates.settings, () => certificates),
    });
    this.#server = server;
    this.#certificates = certificates;
    // The server that accepted the connection has already set its client.
    const name = () => {};
    certificates.watchHandshakes(server, { metrics, name, failed: failedHandshake, secured });
    const use = () => server.setSecureContext(certificates.defaults);
    use();
    certificates.watch(use, warn, metrics);
  }

  /** Starts the handshake of a connection of which nothing was read. */
  receive(socket: Socket): void {
    this.#server.emit("connection", socket);
  }

  /** Stops watching the certificates. */
  close(): void {
    this.#certificates.close();
  }
}

import type { Socket } from "node:net";
import { createServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { Certificates } from "./certificates.ts";
import { handshakeOptions } from "./handshake.ts";
import type { FailedHandshake } from "./handshakes.ts";

/** TLS of some server names of a port that ends with settings of its own. */
export interface NamedEndSettings {
  readonly certificates: Certificates;
  /** What is in TLS: requests, or a connection whose bytes are passed on. */
  readonly carries: "requests" | "connections";
}

/** What becomes of the connections of an end. */
export interface NamedEndHandlers {
  readonly secured: (socket: TLSSocket) => void;
  readonly failedHandshake: (handshake: FailedHandshake) => void;
  readonly warn: (message: string) => void;
}

/**
 * Ends TLS on connections that another server has accepted. Its session tickets have a key of their own: without one, a
 * session that began under another server name could be resumed here without the certificate that clients have to show.
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
    server.on("secureConnection", secured);
    // The server that accepted a connection has named its client.
    certificates.watchHandshakes(server, { metrics, name: () => {}, failed: failedHandshake });
    const use = () => server.setSecureContext(certificates.defaults);
    use();
    certificates.watch(use, warn, metrics);
  }

  /** Begins the handshake of a connection whose bytes are all still to be read. */
  receive(socket: Socket): void {
    this.#server.emit("connection", socket);
  }

  /** Stops watching the certificates. */
  close(): void {
    this.#certificates.close();
  }
}

import { createServer, type Server } from "node:http";
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server as NetServer,
} from "node:net";

/** A gateway with one route to an upstream; `route` is its name, `more` further lines of the route. */
export function gatewayText(settings: {
  readonly upstream: number | string;
  readonly port?: number;
  readonly route?: string;
  readonly more?: string;
}): string {
  const { upstream, port = 0, route = "api", more = "" } = settings;
  return `config: {statsAddr: "127.0.0.1:0", readinessAddr: "127.0.0.1:0", adminAddr: "127.0.0.1:0"}
binds:
  - port: ${port}
    listeners:
      - routes:
          - name: ${route}
${more}            backends: [{host: "${typeof upstream === "number" ? `127.0.0.1:${upstream}` : upstream}"}]
`;
}

/** An upstream that answers every request with a text. */
export class Upstream {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    // A listening TCP server has an AddressInfo.
    this.port = (server.address() as AddressInfo).port;
  }

  static async open(text: string): Promise<Upstream> {
    const server = createServer((_, response) => response.end(text));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Upstream(server);
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  using upstream = await Upstream.open("");
  return upstream.port;
}

/** A port that something else listens on, at every address. */
export class TakenPort {
  readonly port: number;
  readonly #server: NetServer;

  private constructor(server: NetServer) {
    this.#server = server;
    // A listening TCP server has an AddressInfo.
    this.port = (server.address() as AddressInfo).port;
  }

  static async open(): Promise<TakenPort> {
    const server = createNetServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    return new TakenPort(server);
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}

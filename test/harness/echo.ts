import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** An upstream that answers with what it got. */
export interface Echo {
  readonly url: string;
  /** Requests that reached it. */
  count(): number;
  stop(): Promise<void>;
}

export interface Echoed {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** `headers` are on every response, as an application behind the gateway might set them. */
export async function startEcho(headers: Record<string, string> = {}): Promise<Echo> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume();
    const { method, url } = request;
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ method, url, headers: request.headers }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

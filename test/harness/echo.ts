import { createServer, type IncomingHttpHeaders } from "node:http";
import { listen } from "./listen.ts";

/** An upstream that responds with what it got. */
export interface Echo {
  readonly url: string;
  /** Requests that reached it. */
  count(): number;
}

/** The response's body. */
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
  const url = `http://127.0.0.1:${await listen(server)}`;
  return { url, count: () => count };
}

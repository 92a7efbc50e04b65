import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Serves node's requests by a handler of the web's. */
export function serveFetch(
  handle: (request: Request) => Promise<Response>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const controller = new AbortController();
    response.on("close", () => controller.abort());
    const { status, headers, body } = await handle(await webRequest(request, controller.signal));
    response.writeHead(status, Object.fromEntries(headers));
    if (body === null) {
      response.end();
      return;
    }
    response.flushHeaders();
    // A client that has left ends it in the middle.
    await pipeline(Readable.fromWeb(body), response).catch(() => {});
  };
}

async function webRequest(request: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = "GET", url = "/", rawHeaders } = request;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = chunks.length === 0 ? null : Buffer.concat(chunks);
  return new Request(`http://127.0.0.1${url}`, { method, headers, body, signal });
}

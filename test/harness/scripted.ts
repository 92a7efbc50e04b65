import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { checkRequests } from "./checked-requests.ts";
import { listen } from "./listen.ts";

/** A request as an upstream got it, body and all. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** An upstream that does what a test says. */
export interface Scripted {
  /** `host:port` */
  readonly host: string;
  readonly received: Received[];
}

/**
 * Starts one. `respond` is called when the body of a request is complete, with the number of earlier requests. Requests
 * to paths of providers must be valid for these, unless the test accepts `anything`.
 */
export async function startScripted(
  respond: (response: ServerResponse, count: number, request: Received) => void,
  takes: "valid" | "anything" = "valid",
): Promise<Scripted> {
  const received: Received[] = [];
  if (takes === "valid") checkRequests(() => received);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks) };
      received.push(one);
      respond(response, received.length - 1, one);
    });
  });
  return { host: `127.0.0.1:${await listen(server)}`, received };
}

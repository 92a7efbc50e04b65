import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { CertificatePair } from "./self-signed.ts";

/** Response to an API server: JSON, or a text that describes the mistake. */
export interface ServedReview {
  readonly status: number;
  readonly body: object | string;
}

/** Says what is to be said of a request; `caller`: the address that it came from. */
type Review = (body: unknown, caller: string) => Promise<ServedReview>;

/** Bytes of a request: an object and the one before it, of etcd's limit each, with all escapes. */
const LONGEST = 8 * 1024 * 1024;
/** Connections at a time; an API server needs a few. */
const MAX_CONNECTIONS = 256;
/** Milliseconds that a request may take to arrive. */
const ARRIVAL = 10_000;

/**
 * Serves reviews at `/check` over TLS; resolves when the port is open. Anyone who reaches the port may ask, so a
 * response contains only the mistakes of the object in the request, and which of its names are taken.
 */
export function openAdmissionServer(
  port: number,
  pair: CertificatePair,
  review: Review,
): Promise<Server> {
  const server = createServer({ ...pair, minVersion: "TLSv1.2", requestTimeout: ARRIVAL });
  server.headersTimeout = ARRIVAL;
  server.maxConnections = MAX_CONNECTIONS;
  server.on("request", (request, response) => {
    void served(request, review)
      .catch(() => ({ status: 500, body: "the review failed" }))
      .then(({ status, body }) => respond(response, status, body));
  });
  // Closes connections that do not speak TLS.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, () => resolve(server));
  });
}

async function served(request: IncomingMessage, review: Review): Promise<ServedReview> {
  // The API server adds its timeout as a query. A target that is not a path is not a URL either.
  const [pathname] = (request.url ?? "").split("?");
  if (pathname !== "/check") return { status: 404, body: "not found" };
  if (request.method !== "POST") return { status: 405, body: "reviews are POSTed" };
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) return { status: 415, body: "reviews are JSON" };
  const text = await textOf(request).catch(() => undefined);
  if (text === undefined) return { status: 413, body: `a review has at most ${LONGEST} bytes` };
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { status: 400, body: "the request is no JSON" };
  }
  return review(body, request.socket.remoteAddress ?? "");
}

/** Rejects if the body is too large, or the request is aborted. */
async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.length;
    if (length > LONGEST) throw new Error("too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function respond(response: ServerResponse, status: number, body: object | string): void {
  const isText = typeof body === "string";
  // The rest of the request is not read.
  const close = status === 200 ? {} : { connection: "close" };
  response.writeHead(status, {
    "content-type": isText ? "text/plain; charset=utf-8" : "application/json",
    ...close,
  });
  response.end(isText ? `${body}\n` : JSON.stringify(body));
}

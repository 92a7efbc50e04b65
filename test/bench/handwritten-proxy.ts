import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Dispatcher, Pool } from "undici";

/** Answers a request itself (true), or adds headers to its response and lets it pass (false). */
export type Gate = (
  request: IncomingMessage,
  added: string[],
  refuse: (status: number) => void,
) => boolean | Promise<boolean>;

// A proxy as an engineer who knows node:http and undici writes it for one upstream: hop-by-hop headers removed, bodies
// streamed with backpressure, an abort of the client aborts the upstream, one log line and one count per request.

const origin = new URL(process.env.UPSTREAM ?? "");
const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 });
const hopByHop = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const counts = new Map<number, number>();
let lines = "";

setInterval(() => {
  if (lines !== "") process.stdout.write(lines);
  lines = "";
}, 50);

function endToEnd(list: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? "";
    if (!hopByHop.has(name.toLowerCase())) kept.push(name, list[i + 1] ?? "");
  }
  return kept;
}

function ended(
  request: IncomingMessage,
  response: ServerResponse,
  { remoteAddress, remotePort }: Socket,
  started: number,
): void {
  const status = response.statusCode;
  counts.set(status, (counts.get(status) ?? 0) + 1);
  lines += `${new Date().toISOString()} src=${remoteAddress}:${remotePort} host=${request.headers.host} `;
  lines += `method=${request.method} path=${JSON.stringify(request.url?.split("?")[0])} `;
  lines += `status=${status} duration=${Math.round(performance.now() - started)}ms\n`;
}

/** Passes one response on. */
class Handler implements Dispatcher.DispatchHandler {
  readonly response: ServerResponse;
  readonly added: string[] = [];
  controller: Dispatcher.DispatchController | undefined;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.response.destroyed) controller.abort(new Error("client left"));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return;
    const raw = controller.rawHeaders as Buffer[];
    const headers = endToEnd(raw.map((part) => part.toString("latin1")));
    this.response.writeHead(status, headers.concat(this.added));
    this.response.on("drain", () => controller.resume());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.response.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.response.end();
  }

  onResponseError(): void {
    if (this.response.headersSent) this.response.destroy();
    else this.response.writeHead(502).end();
  }
}

/** Serves the proxy; a gate decides first. */
export function serveProxy(gate: Gate | undefined): void {
  const server = createServer((request, response) => {
    const started = performance.now();
    // undici takes it away from a request whose body it has read.
    const { socket } = request;
    const handler = new Handler(response);
    response.on("close", () => {
      if (!response.writableFinished) handler.controller?.abort(new Error("client left"));
      ended(request, response, socket, started);
    });
    if (gate === undefined) {
      pass(request, handler);
      return;
    }
    const refuse = (status: number) => response.writeHead(status, handler.added).end();
    Promise.resolve(gate(request, handler.added, refuse)).then(
      (responded) => {
        if (!responded) pass(request, handler);
      },
      () => refuse(500),
    );
  });
  server.listen(Number(process.env.PORT ?? 0), () => {
    const address = server.address();
    if (address !== null && typeof address === "object") {
      process.stdout.write(`listening on 0.0.0.0:${address.port}\n`);
    }
  });
  process.on("SIGTERM", () => process.exit(0));
}

function pass(request: IncomingMessage, handler: Handler): void {
  const headers = endToEnd(request.rawHeaders);
  headers.push("host", origin.host);
  const hasBody =
    request.headers["content-length"] !== undefined ||
    request.headers["transfer-encoding"] !== undefined;
  pool.dispatch(
    {
      method: request.method as Dispatcher.HttpMethod,
      path: request.url ?? "/",
      headers,
      body: hasBody ? request : null,
    },
    handler,
  );
}

import type { ServerResponse } from "node:http";
import type { Program } from "../../ir/program.ts";
import { type PlaygroundRequest, playgroundRoutes } from "./playground.ts";
import { openCall } from "./port-call.ts";

/** Maximum bytes of a streamed response. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Milliseconds after which a stream ends. */
const LONGEST = 300_000;

/**
 * Sends a request to the gateway's own port and forwards the body of the response as it arrives. Its status, type and the port
 * that it was sent from are in headers, because the response of the page itself must not be rendered.
 */
export function streamRoute(
  { route, mcp: _, identity: __, ...request }: PlaygroundRequest,
  program: Program,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): void {
  const refuse = (problem: string) => {
    if (response.headersSent) response.destroy();
    else
      response.writeHead(200, { ...headers, "x-gwc-problem": encodeURIComponent(problem) }).end();
  };
  const found = playgroundRoutes(program).find((each) => each.route.id === route);
  if (found === undefined) {
    refuse("there is no such route");
    return;
  }
  try {
    const call = openCall({ ...request, origin: found.request.origin });
    const deadline = setTimeout(() => call.destroy(new Error("it took too long")), LONGEST);
    // The reader left, or pressed stop.
    response.on("close", () => call.destroy());
    call.on("close", () => clearTimeout(deadline));
    call.on("error", (error) => refuse(error.message));
    call.on("response", (received) => {
      response.writeHead(200, {
        ...headers,
        "content-type": "text/plain; charset=utf-8",
        "x-gwc-status": String(received.statusCode ?? 0),
        "x-gwc-type": (received.headers["content-type"] ?? "").replace(/[^\x20-\x7e]/g, ""),
        "x-gwc-port": String(received.socket.localPort ?? 0),
      });
      response.flushHeaders();
      let size = 0;
      received.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BYTES) received.destroy(new Error("it is too long"));
      });
      received.on("error", () => response.destroy());
      received.pipe(response);
    });
    call.end(request.body);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
}

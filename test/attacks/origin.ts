import { createServer, type Socket } from "node:net";
import { listen } from "../harness/listen.ts";
import { type EngineRequest, parseRequests } from "./strict-parser.ts";

/** An origin that keeps every byte it gets, and answers what its strict parser reads as a request. */
export interface Origin {
  /** `127.0.0.1:PORT` */
  readonly host: string;
  /** Requests that were complete, in the order they became so. */
  readonly requests: EngineRequest[];
  /** Input that was not a request: each one is a failure of the gateway. */
  readonly faults: string[];
  /** All that came, on all connections. */
  bytes(): string;
}

/** Starts one; each response's body is `METHOD TARGET N`, N its number on the connection. */
export async function startOrigin(): Promise<Origin> {
  const requests: EngineRequest[] = [];
  const faults: string[] = [];
  const sockets = new Set<Socket>();
  let all = "";
  const server = createServer((socket) => {
    sockets.add(socket);
    let [rest, count] = ["", 0];
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      all += text;
      const parsed = parseRequests(rest + text);
      rest = parsed.rest;
      if (parsed.fault !== undefined) {
        faults.push(parsed.fault);
        socket.destroy();
      }
      for (const request of parsed.requests) {
        requests.push(request);
        count += 1;
        const body = `${request.method} ${request.target} ${count}`;
        const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`;
        socket.write(request.method === "HEAD" ? head : `${head}${body}`, "latin1");
      }
    });
  });
  const port = await listen(server);
  return { host: `127.0.0.1:${port}`, requests, faults, bytes: () => all };
}

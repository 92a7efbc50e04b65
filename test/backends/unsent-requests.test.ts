import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freePorts } from "../harness/free-port.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { nowhere, startRoutes } from "../policies/routes.ts";

/** Requests that servers received: the IDs, each as often as it came, with the length of its body. */
let received: string[] = [];
let gateway: Gateway;

/** A server that notes each request; `breaks`: it closes the connection then. */
async function startCounting(breaks: boolean): Promise<string> {
  const server = createServer((request, response) => {
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
    });
    request.on("end", () => {
      received.push(`${request.headers["x-id"]} ${length}`);
      if (breaks) response.socket?.destroy();
      else response.end("done");
    });
  });
  server.on("upgrade", (request, socket) => {
    received.push(`${request.headers["x-id"]} 0`);
    socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n");
  });
  return `127.0.0.1:${await listen(server)}`;
}

const health = { health: { eviction: { duration: "10s", consecutiveFailures: 1000 } } };

beforeAll(async () => {
  const [first = 0, second = 0] = await freePorts(2);
  const [works, breaks] = [await startCounting(false), await startCounting(true)];
  const gone = [first, second].map((port) => ({ host: `127.0.0.1:${port}`, weight: 20 }));
  const there = { host: works, weight: 1 };
  const retry = { attempts: 2, codes: [503], precondition: 'request.method == "GET"' };
  const backends = [...gone, there];
  gateway = await startRoutes(
    {
      plain: { policies: {}, backends },
      within: { policies: { timeout: { requestTimeout: "30s" } }, backends },
      retried: { policies: { retry }, backends },
      watched: {
        policies: {},
        backends: backends.map((each) => ({ ...each, policies: health })),
      },
      kept: { policies: { sessionAffinity: { source: 'request.headers["x-id"]' } }, backends },
      breaking: { policies: {}, backends: [...gone, { host: breaks, weight: 1 }] },
      nobody: { policies: {}, backends: gone },
    },
    nowhere,
  );
});

beforeEach(() => {
  received = [];
});

/** Sends a request with this body over a connection of its own; `isChunked`: without its length. */
function send(
  route: string,
  method: string,
  id: string,
  body: Buffer,
  isChunked = false,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const framing = isChunked
      ? { "transfer-encoding": "chunked" }
      : { "content-length": body.length };
    const length = body.length === 0 ? {} : framing;
    const sent = httpRequest(`${gateway.url}/${route}`, {
      method,
      agent: false,
      headers: { "x-id": id, ...length, ...headers },
    });
    sent.on("error", reject);
    sent.on("upgrade", (response: IncomingMessage, socket) => {
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
    sent.on("response", (response: IncomingMessage) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    if (isChunked) {
      for (let at = 0; at < body.length; at += 1000) sent.write(body.subarray(at, at + 1000));
      sent.end();
    } else sent.end(body);
  });
}

/** Below what is collected before it is sent, above it, and above what a retry keeps. */
const sizes = [0, 1, 900, 15_000, 40_000, 300_000];

describe.each(["plain", "within", "retried", "watched", "kept"])("a route (%s)", (route) => {
  it("sends a request that reached no server to another one, whole and once, whatever its method", async () => {
    const expected: string[] = [];
    for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"]) {
      for (const size of method === "GET" ? [0] : sizes) {
        for (const isChunked of size > 0 ? [false, true] : [false]) {
          const id = `${method}-${size}-${isChunked}`;
          expect(await send(route, method, id, Buffer.alloc(size, "x"), isChunked)).toBe(200);
          expected.push(`${id} ${size}`);
        }
      }
    }
    expect(received).toEqual(expected);
  });

  it("does the same with a change of the protocol", async () => {
    const upgrade = { connection: "upgrade", upgrade: "echo" };
    for (let count = 0; count < 5; count++)
      expect(await send(route, "GET", `${count}`, Buffer.alloc(0), false, upgrade)).toBe(101);
    expect(received).toHaveLength(5);
  });
});

it("a request that was sent is not sent again, and its failure is the client's", async () => {
  for (let count = 0; count < 10; count++)
    expect(await send("breaking", "POST", `${count}`, Buffer.alloc(500, "x"))).toBe(502);
  expect(received).toEqual(Array.from({ length: 10 }, (_, count) => `${count} 500`));
});

it("a request that reaches no server is a 503 after each was tried once", async () => {
  expect(await send("nobody", "POST", "a", Buffer.alloc(500, "x"))).toBe(503);
});

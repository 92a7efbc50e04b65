import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

let gateway: Gateway;
/** Number of requests whose head has reached the upstream. */
let arrived = 0;
/** Functions that let the upstream send the rest of its responses. */
const goOn: (() => void)[] = [];

/** Starts an upstream that echoes bodies; `/NAME/slow` sends half of its response and waits. */
beforeAll(async () => {
  const server = createServer((incoming, response) => {
    arrived += 1;
    const { url = "", headers } = incoming;
    response.setHeader("x-length", headers["content-length"] ?? "none");
    if (url.endsWith("/slow")) {
      response.write("first ");
      goOn.push(() => response.end("second"));
      return;
    }
    if (url.endsWith("/long")) {
      response.writeHead(200, { "content-length": "2000" }).end("x".repeat(2000));
      return;
    }
    if (url.endsWith("/large")) {
      response.write("x".repeat(900));
      response.end("x".repeat(1100));
      return;
    }
    incoming.pipe(response);
  });
  await listen(server);
  const { port } = server.address() as AddressInfo;
  const buffered = (buffer: object) => ({ policies: { buffer } });
  gateway = await startRoutes(
    {
      request: buffered({ request: { maxBytes: 1000 } }),
      "open-request": buffered({ request: { maxBytes: "1Ki", failureMode: "failOpen" } }),
      response: buffered({ response: { maxBytes: 1000 } }),
      "open-response": buffered({ response: { maxBytes: 1000, failureMode: "failOpen" } }),
      streamed: { policies: {} },
    },
    { url: `http://127.0.0.1:${port}` },
  );
});

/** A request whose body is sent piece by piece. */
class SlowCall {
  readonly #outgoing;
  readonly answer: Promise<{ status: number; length: unknown; sent: unknown; body: string }>;
  /** The part of the response's body that has arrived. */
  seen = "";

  constructor(path: string, method = "POST") {
    this.#outgoing = request(`${gateway.url}${path}`, { method });
    this.answer = new Promise((resolve, reject) => {
      this.#outgoing.on("error", reject);
      this.#outgoing.on("response", (response) => {
        response.on("data", (piece) => {
          this.seen += piece;
        });
        const { statusCode: status = 0, headers } = response;
        const { "content-length": length, "x-length": sent } = headers;
        response.on("end", () => resolve({ status, length, sent, body: this.seen }));
      });
    });
    this.#outgoing.flushHeaders();
  }

  write(piece: string): void {
    this.#outgoing.write(piece);
  }

  end(piece = ""): void {
    this.#outgoing.end(piece);
  }
}

it("a buffered request is forwarded when its body is complete, with its length", async () => {
  const before = arrived;
  const call = new SlowCall("/request");
  call.write("one ");
  const other = new SlowCall("/streamed");
  other.end("other");
  await other.answer;
  expect(arrived).toBe(before + 1);
  call.end("two");
  expect(await call.answer).toMatchObject({ status: 200, sent: "7", body: "one two" });
});

it("a larger request body is refused, or streamed", async () => {
  const large = new SlowCall("/request");
  large.end("x".repeat(1001));
  expect(await large.answer).toMatchObject({
    status: 413,
    body: "request body larger than 1000 bytes (buffer.request.maxBytes)",
  });
  const before = arrived;
  const open = new SlowCall("/open-request");
  open.write("x".repeat(1025));
  await expect.poll(() => arrived).toBe(before + 1);
  open.end("y");
  expect((await open.answer).body).toBe(`${"x".repeat(1025)}y`);
});

it("a buffered response is sent when its body is complete, with its length", async () => {
  const call = new SlowCall("/response/slow");
  call.end();
  await expect.poll(() => goOn).toHaveLength(1);
  const streamed = new SlowCall("/streamed/slow");
  streamed.end();
  await expect.poll(() => streamed.seen).toBe("first ");
  expect(call.seen).toBe("");
  for (const each of goOn) each();
  expect(await call.answer).toMatchObject({ status: 200, length: "12", body: "first second" });
});

it("a larger response is replaced by a 502, or streamed", async () => {
  for (const path of ["large", "long"]) {
    const large = new SlowCall(`/response/${path}`);
    large.end();
    expect((await large.answer).status).toBe(502);
    const open = new SlowCall(`/open-response/${path}`);
    open.end();
    expect((await open.answer).body).toHaveLength(2000);
  }
});

it("the response to HEAD keeps its length", async () => {
  const call = new SlowCall("/response/long", "HEAD");
  call.end();
  expect(await call.answer).toMatchObject({ status: 200, length: "2000", body: "" });
});

it("buffering needs a direction, and bodies that are forwarded", () => {
  const found = (buffer: object, backends: Readonly<Record<string, unknown>>[]) =>
    findings({ policies: { buffer }, backends });
  const host = [{ host: "127.0.0.1:1" }];
  const mcp = [{ mcp: { targets: [{ name: "a", mcp: { host: "http://127.0.0.1:1/mcp" } }] } }];
  expect(found({ request: {} }, host)).toEqual([]);
  expect(found({}, host)).toEqual(["wrong-choice"]);
  expect(found({ request: { maxBytes: 0 } }, host)).toEqual(["out-of-range"]);
  expect(found({ request: {} }, mcp)).toEqual(["misplaced-field"]);
});

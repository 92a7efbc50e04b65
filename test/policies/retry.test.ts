import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { settled } from "../harness/settled.ts";
import { findings } from "./refused.ts";
import { nowhere, startRoutes } from "./routes.ts";

/** The upstream's behavior for each request in turn; the last one repeats. */
let script: readonly ("ok" | "503" | "500" | "reset" | "hang" | "begin" | "again")[] = ["ok"];

let gateway: Gateway;
let upstream: Scripted;
let first = 0;

beforeAll(async () => {
  upstream = await startScripted((response, count) => {
    const act = script[Math.min(count - first, script.length - 1)];
    if (act === "ok") response.end(`response ${count - first}`);
    if (act === "503" || act === "500") {
      response.writeHead(Number(act), { "content-length": 5 }).end("fault");
    }
    if (act === "again") response.writeHead(200, { "x-again": "1" }).end("again");
    if (act === "reset") response.socket?.destroy();
    if (act === "begin") {
      response.writeHead(200, { "content-length": 100 }).write("begun");
      setTimeout(() => response.socket?.destroy(), 50);
    }
  });
  const backends = [{ host: upstream.host }];
  const retry = { attempts: 2, backoff: "50ms", codes: [503] };
  gateway = await startRoutes(
    {
      plain: { policies: { retry }, backends },
      quick: { policies: { retry: { attempts: 2, codes: [503] } }, backends },
      each: { policies: { retry, timeout: { backendRequestTimeout: "1s" } }, backends },
      often: {
        policies: {
          retry: { ...retry, attempts: 20 },
          timeout: { backendRequestTimeout: "1s" },
        },
        backends,
      },
      all: {
        policies: {
          retry: { attempts: 100, backoff: "1s", codes: [503] },
          timeout: { requestTimeout: "6s" },
        },
        backends,
      },
      unlimited: { policies: { retry: { ...retry, attempts: 100 } }, backends },
      chosen: {
        policies: {
          retry: {
            attempts: 2,
            codes: [503],
            precondition: 'request.method == "GET"',
            condition: 'response.headers["x-again"] == "1" && request.path == "/chosen"',
          },
        },
        backends,
      },
      nowhere: { policies: { retry }, backends: [{ host: "127.0.0.1:1" }] },
    },
    nowhere,
  );
});

beforeEach(() => {
  first = upstream.received.length;
});

const attempts = () => upstream.received.slice(first);
const marks = () => attempts().map(({ headers }) => headers["x-retry-attempt"]);

describe("retry", () => {
  it("a listed status is retried with numbered attempts", async () => {
    script = ["503", "503", "ok"];
    const start = performance.now();
    const response = await send(`${gateway.url}/plain`, "GET", { "x-retry-attempt": "7" });
    expect(response).toMatchObject({ status: 200, body: "response 2" });
    expect(performance.now() - start).toBeGreaterThan(95);
    expect(marks()).toEqual([undefined, "1", "2"]);
    while (!gateway.output.includes("retry.attempt=2")) await pause(10);
  });

  it("the last attempt's response goes to the client", async () => {
    script = ["503"];
    expect(await send(`${gateway.url}/plain`, "GET")).toMatchObject({ status: 503, body: "fault" });
    expect(attempts()).toHaveLength(3);
  });

  it("a status that is not listed is forwarded", async () => {
    script = ["500", "ok"];
    expect((await send(`${gateway.url}/plain`, "GET")).status).toBe(500);
    expect(attempts()).toHaveLength(1);
  });

  it("a connection that fails before the response is retried, even for a POST", async () => {
    script = ["reset", "ok"];
    const response = await send(`${gateway.url}/plain`, "POST", {}, "the body");
    expect(response.body).toBe("response 1");
    expect(attempts().map(({ body }) => body.toString())).toEqual(["the body", "the body"]);
  });

  it.each(["plain", "quick"])("a body up to 64 KiB is resent unchanged (%s)", async (route) => {
    for (const size of [0, 1, 16_384, 16_385, 65_536]) {
      script = ["503", "reset", "ok"];
      first = upstream.received.length;
      const body = randomBytes(size);
      const response = await send(`${gateway.url}/${route}`, "PUT", {}, body);
      expect(response.status).toBe(200);
      expect(attempts().map((each) => each.body.equals(body))).toEqual([true, true, true]);
    }
  });

  it("a chunked body is resent, too", async () => {
    script = ["503", "ok"];
    const body = await new Promise<string>((resolve) => {
      const socket = connect(gateway.port, "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
        if (text.includes("response")) socket.end(() => resolve(text));
      });
      socket.write("POST /quick HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
      socket.write("5\r\nhello\r\n");
      setTimeout(() => socket.write("6\r\n world\r\n0\r\n\r\n"), 30);
    });
    expect(body).toContain("response 1");
    expect(attempts().map((each) => each.body.toString())).toEqual(["hello world", "hello world"]);
  });

  it("a longer body is sent once", async () => {
    script = ["503", "ok"];
    const response = await send(`${gateway.url}/plain`, "PUT", {}, randomBytes(200_000));
    expect(response.status).toBe(503);
    expect(attempts()).toHaveLength(1);
  });

  it("nothing is retried once the response has begun", async () => {
    script = ["begin", "ok"];
    await expect(send(`${gateway.url}/plain`, "GET")).rejects.toThrow();
    expect(attempts()).toHaveLength(1);
  });

  it("a slow attempt is retried", async () => {
    script = ["hang", "ok"];
    // On a busy machine the next ones may be slow as well.
    expect((await send(`${gateway.url}/often`, "GET")).body).toMatch(/^response [1-9]\d*$/);
    script = ["hang"];
    const from = gateway.output.length;
    expect((await send(`${gateway.url}/each`, "GET")).status).toBe(504);
    // A busy upstream may not see a try that has ended before it was read.
    await gateway.seen(/http\.path=\/each .*retry\.attempt=2\b/, from);
  });

  it("the request's timeout limits all attempts together", async () => {
    script = ["503"];
    expect((await send(`${gateway.url}/all`, "GET")).status).toBe(504);
    const count = await settled(() => attempts().length);
    expect(count).toBeGreaterThan(1);
    expect(count).toBeLessThan(101);
  });

  it("a backend that is down is a 503 in the end", async () => {
    expect((await send(`${gateway.url}/nowhere`, "GET")).status).toBe(503);
  });

  it("a client that disconnects ends the attempts", async () => {
    script = ["503"];
    const socket = connect(gateway.port, "127.0.0.1");
    socket.write("GET /unlimited HTTP/1.1\r\nHost: x\r\n\r\n");
    while (attempts().length === 0) await pause(5);
    socket.destroy();
    expect(await settled(() => attempts().length)).toBeLessThan(101);
  });

  it("the connection still works after a retried upload", async () => {
    script = ["503", "ok"];
    await send(`${gateway.url}/quick`, "PUT", {}, randomBytes(50_000));
    script = ["ok"];
    expect((await send(`${gateway.url}/quick`, "GET")).status).toBe(200);
  });
});

it("a condition on the response head causes a retry, in addition to the codes", async () => {
  script = ["again", "503", "ok"];
  expect((await send(`${gateway.url}/chosen`, "GET")).body).toBe("response 2");
  script = ["again"];
  first = upstream.received.length;
  expect((await send(`${gateway.url}/chosen`, "GET")).body).toBe("again");
  expect(attempts()).toHaveLength(3);
});

it("a request that does not meet the precondition is sent once", async () => {
  script = ["503", "ok"];
  const response = await send(`${gateway.url}/chosen`, "POST", {}, randomBytes(200_000));
  expect(response.status).toBe(503);
  expect(attempts()).toHaveLength(1);
});

it("conditions read only what is known at that time", () => {
  const found = (retry: object) => findings({ policies: { retry } });
  expect(found({ condition: "response.code == 200" })).toEqual([]);
  expect(found({ condition: "size(response.body) > 0" })).toEqual(["head-only"]);
  expect(found({ precondition: "response.code == 200" })).toEqual(["cel-wrong-phase"]);
});

import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startRoutes } from "./routes.ts";

const bounds = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  async request(request) {
    const { headers } = request;
    switch (headers.get("x-do")) {
      case "many":
        for (let count = 0; ; count++) headers.append("x-" + count, "");
      case "long":
        headers.set("x-long", "a".repeat(65_537));
        return;
      case "message":
        return request.refuse(403, "a".repeat(65_537));
      case "console":
        Reflect.get(Reflect.get(console, "_stdout"), "write");
        return;
      case "late":
        setTimeout(() => headers.set("x-user", "root"), 0);
        return;
      case "expired":
        await new Promise((resolve) => setTimeout(resolve, 150));
        headers.set("x-user", "root");
    }
  },
  response({ headers, request }) {
    if (headers.get("x-do") === "sent") request.headers.set("x-user", "root");
    if (headers.get("x-do") === "after") setTimeout(() => headers.set("x-user", "root"), 0);
  },
});
`;

const streams = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  responseStream({ headers }) {
    const does = headers.get("x-do");
    if (does === "again") return again();
    if (does === "locked") {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      readable.getReader();
      return { readable, writable };
    }
    return new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        if (does === "hangs") return new Promise(() => {});
        if (does === "blocks") for (const end = Date.now() + 1800; Date.now() < end; );
        controller.enqueue(piece);
      },
      flush: () => (does === "lingers" ? new Promise(() => {}) : undefined),
    });
  },
});

/** Numbers, all in the same bytes. */
function again() {
  const bytes = new Uint8Array(6);
  let count = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    new TextEncoder().encodeInto(String(count++).padStart(5, "0") + "\\n", bytes);
    controller.enqueue(bytes);
    if (count === 10_000) controller.close();
  };
  return { writable: new WritableStream(), readable: new ReadableStream({ pull }, { highWaterMark: 0 }) };
}
`;

const named = (header: string) => `import { definePolicy } from "gwc/policy";

export default definePolicy({
  request(request) {
    request.headers.append("x-named", "${header}");
  },
});
`;

/** Names that differ only in what an identifier cannot have, and names that generated code uses itself. */
const NAMES = ["x/same", "y/same", "a-b", "a_b", "custom", "open-custom", "1", "über", "日本"];

let gateway: Gateway;

beforeAll(async () => {
  const url = await startUpstream((request, response) => {
    const does = new URL(request.url ?? "/", "http://upstream").searchParams.get("do");
    if (does !== null) response.setHeader("x-do", does);
    response.end(JSON.stringify(request.headers));
  });
  const custom = (...entries: readonly object[]) => ({ policies: { custom: entries } });
  const use = "./policies/bounds.ts";
  gateway = await startRoutes(
    {
      bounds: custom({ use }),
      open: custom({ use, failureMode: "failOpen", timeout: "50ms" }),
      streams: custom({ use: "./policies/streams.ts", timeout: "60s" }),
      hasty: custom({ use: "./policies/streams.ts", timeout: "100ms" }),
      names: custom(...NAMES.map((name) => ({ use: `./policies/${name}.ts` }))),
    },
    { url },
    {
      "policies/bounds.ts": bounds,
      "policies/streams.ts": streams,
      ...Object.fromEntries(NAMES.map((name, index) => [`policies/${name}.ts`, named(`${index}`)])),
    },
  );
});

const get = (path: string, headers: Record<string, string> = {}) =>
  send(`${gateway.url}/${path}`, "GET", headers);

describe("a custom policy", () => {
  it.each([
    ["many", "a hook changes at most 1000 headers of a message"],
    ["long", "has more than 65536 characters (policies/bounds.ts:10)"],
    ["message", "the message of a refusal has more than 65536 characters"],
  ])("fails beyond a bound: %s", async (what, logged) => {
    const { status, body } = await get("bounds", { "x-do": what });
    expect([status, body]).toEqual([500, "internal error"]);
    await expect.poll(() => gateway.output).toContain(logged);
  });

  it("does not reach the streams of the console, whose classes open files", async () => {
    expect((await get("bounds", { "x-do": "console" })).status).toBe(500);
  });

  it("cannot change the request after its hook has ended", async () => {
    const { status, body } = await get("bounds", { "x-do": "late" });
    expect(status).toBe(200);
    expect(body).not.toContain("root");
    await expect
      .poll(() => gateway.output)
      .toMatch(
        /bounds\.ts failed outside of a hook: TypeError: the headers can no longer be changed/,
      );
  });

  it("cannot change the request after its timeout", async () => {
    const { status, body } = await get("open", { "x-do": "expired" });
    expect(status).toBe(200);
    expect(body).not.toContain("root");
  });

  it("cannot change a request that has been sent", async () => {
    expect((await get("bounds?do=sent")).status).toBe(500);
  });

  it("cannot change a response after its hook has ended", async () => {
    const { status, headers } = await get("bounds?do=after");
    expect([status, headers["x-user"]]).toEqual([200, undefined]);
  });

  it("has a name of its own, whatever others are called", async () => {
    const { body } = await get("names");
    expect(JSON.parse(body)["x-named"]).toBe(NAMES.map((_, index) => index).join(", "));
  });
});

describe("the streams of a responseStream hook", () => {
  it("may use their bytes again", async () => {
    const { body } = await get("streams?do=again");
    const lines = body.split("\n").slice(0, 10_000);
    expect(lines).toEqual(
      Array.from({ length: 10_000 }, (_, count) => `${count}`.padStart(5, "0")),
    );
  });

  it.each(["hangs", "lingers"])("have a timeout for each piece: %s", async (what) => {
    const from = gateway.output.length;
    await expect(get(`hasty?do=${what}`)).rejects.toThrow();
    await expect
      .poll(() => gateway.output.slice(from))
      .toMatch(
        /custom\.policy=streams error="responseStream: .*took longer than 100 ms for a piece" reason=Custom/,
      );
  });

  it("replace the response by 500 if they are in use", async () => {
    expect((await get("streams?do=locked")).status).toBe(500);
  });

  it("are named if they block their thread", async () => {
    const response = get("hasty?do=blocks").catch(() => undefined);
    await expect
      .poll(() => gateway.output)
      .toMatch(/error: async hooks of custom policies run \(streams\), and all requests/);
    await response;
  });
});

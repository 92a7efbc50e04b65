import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startRoutes } from "./routes.ts";

const whole = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: { word: { type: "string", default: "red" } },
  async responseBody(body, { word }, response) {
    const text = new TextDecoder().decode(body);
    if (text.includes("forbidden")) return response.request.refuse(403, "not for you", { "x-why": "word" });
    if (text.includes("break")) throw new Error("no such body");
    if (text.includes("empty")) return "";
    if (text.includes("odd")) response.status = 99;
    if (text.includes("same")) return;
    response.headers.set("x-length", String(body.length));
    return text.replaceAll(word, "blue");
  },
});
`;

const pieces = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  responseStream(response) {
    const { headers } = response;
    if (headers.get("x-do") === "refuse") return response.request.refuse(403, "not for you");
    if (headers.get("x-do") === "throw") throw new Error("no such head");
    if (headers.get("content-type") !== "text/event-stream") return;
    headers.delete("x-powered-by");
    return new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        const text = new TextDecoder().decode(piece);
        if (text.includes("break")) throw new Error("no such piece");
        controller.enqueue(new TextEncoder().encode(text.toUpperCase()));
      },
    });
  },
});
`;

let gateway: Gateway;

beforeAll(async () => {
  const url = await startUpstream((request, response) => {
    const target = new URL(request.url ?? "/", "http://upstream");
    const text = target.searchParams.get("text") ?? "a red word";
    const does = target.searchParams.get("do");
    if (does !== null) response.setHeader("x-do", does);
    response.setHeader("x-accept", request.headers["accept-encoding"] ?? "none");
    if (does === "gzip") {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(text));
    } else if (does === "events") {
      response.setHeader("content-type", "text/event-stream");
      response.setHeader("x-powered-by", "words");
      const words = text.split(" ");
      const next = () => {
        const word = words.shift();
        if (word === undefined) response.end();
        else response.write(`data: ${word}\n\n`, () => setTimeout(next, 5));
      };
      next();
    } else if (does === "large") {
      response.setHeader("content-type", "text/event-stream");
      response.end("a".repeat(5_000_000));
    } else response.end(text);
  });
  const use = "./policies/whole.ts";
  gateway = await startRoutes(
    {
      whole: { policies: { custom: [{ use }] } },
      open: { policies: { custom: [{ use, failureMode: "failOpen" }] } },
      pieces: { policies: { custom: [{ use: "./policies/pieces.ts" }] } },
      both: { policies: { custom: [{ use: "./policies/pieces.ts" }, { use }] } },
    },
    { url },
    { "policies/whole.ts": whole, "policies/pieces.ts": pieces },
  );
});

const get = (path: string, method = "GET") =>
  send(`${gateway.url}/${path}`, method, { "accept-encoding": "gzip" });

describe("a responseBody hook", () => {
  it("replaces bodies and changes heads", async () => {
    const { status, headers, body } = await get("whole?text=red+and+red");
    expect([status, body]).toEqual([200, "blue and blue"]);
    expect(headers).toMatchObject({ "x-length": "11", "content-length": "13", "x-accept": "none" });
  });

  it("reads a compressed body decompressed, even if the server was not asked for it", async () => {
    const { headers, body } = await get("whole?do=gzip&text=one+red");
    expect([headers["content-encoding"], body]).toEqual([undefined, "one blue"]);
  });

  it("leaves a body that it does not replace", async () => {
    expect((await get("whole?text=same+red")).body).toBe("same red");
    expect((await get("whole?text=empty")).body).toBe("");
  });

  it("leaves responses without a body", async () => {
    expect((await get("whole", "HEAD")).status).toBe(200);
  });

  it("refuses a response", async () => {
    const { status, headers, body } = await get("whole?text=forbidden");
    expect([status, body, headers["x-why"]]).toEqual([403, "not for you", "word"]);
    await expect.poll(() => gateway.output).toMatch(/status=403 .*custom\.policy=whole/);
  });

  it.each(["break", "odd"])("replaces the response by 500 if it fails: %s", async (text) => {
    const { status, body } = await get(`whole?text=${text}`);
    expect([status, body]).toEqual([500, "internal error"]);
    await expect
      .poll(() => gateway.output)
      .toContain(text === "odd" ? "from 200 to 599" : "no such body (policies/whole.ts:8)");
  });

  it("passes the response on failure if failureMode is failOpen", async () => {
    const { status, body } = await get("open?text=break");
    expect([status, body]).toEqual([200, "break"]);
  });

  it("replaces a response beyond maxBufferSize by 502", async () => {
    expect((await get("whole?do=large")).status).toBe(502);
  });
});

describe("a responseStream hook", () => {
  it("changes a body piece by piece, and its head", async () => {
    const { headers, body } = await get("pieces?do=events&text=one+two");
    expect(body).toBe("DATA: ONE\n\nDATA: TWO\n\n");
    expect(headers["x-powered-by"]).toBeUndefined();
  });

  it("passes more than a buffer holds", async () => {
    expect((await get("pieces?do=large")).body).toBe("A".repeat(5_000_000));
  });

  it("leaves a body if it returns nothing", async () => {
    expect((await get("pieces?text=small")).body).toBe("small");
  });

  it("refuses a response", async () => {
    expect((await get("pieces?do=refuse")).status).toBe(403);
  });

  it("replaces the response by 500 if it throws", async () => {
    expect((await get("pieces?do=throw")).status).toBe(500);
  });

  it("aborts a response whose stream fails later", async () => {
    await expect(get("pieces?do=events&text=one+break+two")).rejects.toThrow();
    await expect.poll(() => gateway.output).toContain("no such piece");
  });

  it("reads what the hooks of later policies return", async () => {
    expect((await get("both?do=events&text=red")).body).toBe("DATA: BLUE\n\n");
  });
});

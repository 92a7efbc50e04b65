import { createServer } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { send } from "../harness/send.ts";
import { startRoutes } from "./routes.ts";

let services: EnvoyServices;
let gateway: Gateway;

beforeAll(async () => {
  services = await startEnvoyServices();
  // Returns the body, and its headers as one.
  const server = createServer((request, response) => {
    response.writeHead(200, {
      "content-type": "text/plain",
      "x-got": encodeURIComponent(JSON.stringify(request.headers)),
      "x-gone": "1",
    });
    request.pipe(response);
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const host = new URL(services.url).host;
  const route = (more: object, rest: object = {}) => ({
    policies: { extProc: { host, policies: patient, ...more }, ...rest },
  });
  const modes = (requestBodyMode: string, responseBodyMode: string, more: object = {}) => ({
    processingOptions: { requestBodyMode, responseBodyMode, ...more },
  });
  gateway = await startRoutes(
    {
      duplex: route({}, { transformations: { request: { set: { "x-role": "extproc.role" } } } }),
      buffered: route(modes("buffered", "buffered")),
      none: route(modes("none", "none")),
      override: route(modes("none", "none", { allowModeOverride: true })),
      context: route({
        ...modes("none", "none"),
        metadataContext: {
          "my.space": { path: "request.path" },
          "gwc.dev.grpc_initial_metadata": {
            "x-call": '"yes"',
            "x-length": "size(request.path)",
            // The client's own string may not be valid there.
            "x-said": '"café\\n" + request.path',
          },
        },
        requestAttributes: { method: "request.method" },
        responseAttributes: { code: "response.code" },
      }),
      slow: route({ ...modes("none", "none"), policies: { http: { requestTimeout: "100ms" } } }),
      closed: route({ host: "127.0.0.1:1" }),
      open: route({ host: "127.0.0.1:1", failureMode: "failOpen" }),
      failing: route({ ...modes("none", "none"), failureMode: "failOpen" }),
    },
    { url },
  );
});

/** Sends a request with the script of the processor for each phase. */
function ask(path: string, script: object, body?: string | Buffer) {
  const headers = { "x-process": JSON.stringify(script), "x-secret": "s" };
  return send(`${gateway.url}/${path}`, body === undefined ? "GET" : "POST", headers, body);
}

function got(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return JSON.parse(decodeURIComponent(String(headers["x-got"])));
}

function option(key: string, value: string) {
  return { header: { key, raw_value: Buffer.from(value).toString("base64") } };
}

const changes = {
  request_headers: {
    request_headers: {
      response: {
        header_mutation: {
          set_headers: [option("x-new", "1"), option(":path", "/elsewhere"), option("host", "no")],
          remove_headers: ["x-secret"],
        },
      },
    },
    dynamic_metadata: { role: "admin" },
  },
  response_headers: {
    response_headers: {
      response: {
        header_mutation: {
          set_headers: [option("x-seen", "yes"), option(":status", "201")],
          remove_headers: ["x-gone"],
        },
      },
    },
  },
};

describe("extProc", () => {
  it.each(["duplex", "none"])("changes heads in both directions: %s", async (path) => {
    const response = await ask(path, changes);
    const headers = got(response.headers);
    expect(response.status).toBe(201);
    expect(response.headers).toMatchObject({ "x-seen": "yes" });
    expect(response.headers).not.toHaveProperty("x-gone");
    expect(headers["x-new"]).toBe("1");
    expect(headers).not.toHaveProperty("x-secret");
    if (path === "duplex") expect(headers["x-role"]).toBe("admin");
  });

  it.each([0, 1, 100_000, 5_000_000])(
    "passes bodies of %i bytes through both ways",
    async (size) => {
      const body = Buffer.alloc(size, "abcdefghij");
      const response = await ask("duplex", {}, body);
      expect(response.status).toBe(200);
      expect(Buffer.from(response.body).equals(body)).toBe(true);
    },
  );

  it("sends whole bodies to the processor and replaces them", async () => {
    const other = (text: string, of: string) => ({
      [of]: {
        [of]: { response: { body_mutation: { body: Buffer.from(text).toString("base64") } } },
      },
    });
    const kept = { request_body: { request_body: {} }, response_body: { response_body: {} } };
    expect((await ask("buffered", kept, "hello")).body).toBe("hello");
    const changed = { ...kept, ...other("changed", "request_body") };
    expect((await ask("buffered", changed, "hello")).body).toBe("changed");
    const answered = { ...kept, ...other("for you", "response_body") };
    expect((await ask("buffered", answered, "hello")).body).toBe("for you");
    expect((await ask("none", {}, "hello")).body).toBe("hello");
  });

  it("lets a processor change the modes if that is allowed", async () => {
    const script = {
      request_headers: {
        request_headers: {},
        mode_override: { request_body_mode: "BUFFERED" },
      },
      request_body: {
        request_body: {
          response: { body_mutation: { body: Buffer.from("b").toString("base64") } },
        },
      },
    };
    expect((await ask("override", script, "a")).body).toBe("b");
    expect((await ask("none", script, "a")).body).toBe("a");
  });

  it.each(["request_headers", "response_headers"])(
    "lets a processor respond to the client: %s",
    async (phase) => {
      const reply = {
        immediate_response: {
          status: { code: "Forbidden" },
          headers: { set_headers: [option("x-why", "policy")] },
          body: Buffer.from("not here").toString("base64"),
        },
      };
      const response = await ask("duplex", { [phase]: reply });
      expect([response.status, response.body]).toEqual([403, "not here"]);
      expect(response.headers["x-why"]).toBe("policy");
    },
  );

  it("sends attributes, metadata and the modes", async () => {
    await ask("context", {});
    const own = services
      .seen()
      .filter(({ message }) => message.metadata_context?.filter_metadata?.["my.space"]);
    expect(own.map(({ message }) => message.attributes)).toEqual([
      { "envoy.filters.http.ext_proc": { method: "GET" } },
      { "envoy.filters.http.ext_proc": { code: 200 } },
    ]);
    expect(own[0]?.metadata).toMatchObject({ "x-call": "yes", "x-length": "8" });
    expect(own[0]?.metadata).not.toHaveProperty("x-said");
    expect(own[0]?.message.metadata_context.filter_metadata["my.space"]).toEqual({
      path: "/context",
    });
  });

  it.each([
    ["a processor that is not there", "closed", {}, 500],
    ["one that is not needed", "open", {}, 200],
    ["an error at the request", "duplex", { request_headers: { abort: "INTERNAL" } }, 500],
    ["an error at the response", "duplex", { response_headers: { abort: "INTERNAL" } }, 500],
    ["an error that may pass", "failing", { request_headers: { abort: "INTERNAL" } }, 200],
    ["an end before the response to the head", "duplex", { request_headers: { end: true } }, 500],
    ["a processor that takes too long", "slow", { request_headers: { sleep: 1 } }, 500],
  ])("fails closed unless configured: %s", async (_name, path, script, status) => {
    const response = await ask(path, script);
    expect(response.status).toBe(status);
    if (status === 500) expect(response.body).toBe("external processing failed");
  });

  it.each(["request_body", "response_body"])(
    "does not forward what a processor that died had of the %s",
    async (phase) => {
      const response = await ask("duplex", { [phase]: { abort: "INTERNAL" } }, "hello").catch(
        (error: Error) => error,
      );
      // The head of the response may have been sent by then: it is aborted.
      expect(response instanceof Error ? "broken" : response.status).not.toBe(200);
    },
  );
});

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startEcho } from "../harness/echo.ts";
import {
  type EnvoyServices,
  type SeenMessage,
  startEnvoyServices,
} from "../harness/envoy-services.ts";
import type { Gateway } from "../harness/gateway.ts";
import { patient } from "../harness/patient-callout.ts";
import { type Response, send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startRoutes } from "./routes.ts";

const folder = temporaryFolder();

let services: EnvoyServices;
let secure: EnvoyServices;
let gateway: Gateway;
let echo: Awaited<ReturnType<typeof startEcho>>;

beforeAll(async () => {
  makeCertificate(folder, "auth", { names: "DNS:auth.test" });
  const tls = { key: join(folder, "auth.key"), cert: join(folder, "auth.pem") };
  [services, secure, echo] = await Promise.all([
    startEnvoyServices(),
    startEnvoyServices(0, tls),
    startEcho({ "x-from": "upstream" }),
  ]);
  const host = new URL(services.url).host;
  const route = (more: object) => ({
    policies: { extAuthz: { host, policies: patient, ...more } },
  });
  gateway = await startRoutes(
    {
      plain: route({}),
      unlimited: { policies: { extAuthz: { host } } },
      context: route({
        protocol: {
          grpc: {
            context: { team: "blue" },
            metadata: {
              "my.space": '{"path": request.path}',
              broken: "{'none': request.headers['none']}",
            },
          },
        },
      }),
      // As before agentgateway 1.0.
      earlierContext: route({ context: { team: "red" } }),
      earlierOpen: route({ host: "127.0.0.1:1", failOpen: true }),
      earlierStatus: route({ host: "127.0.0.1:1", statusOnError: 503 }),
      earlierSlow: { policies: { extAuthz: { host, timeout: "100ms" } } },
      few: route({ includeRequestHeaders: [":path", "X-Some"] }),
      body: route({ includeRequestBody: { maxRequestBytes: 8 } }),
      readBefore: route({
        includeRequestBody: { maxRequestBytes: 8 },
        protocol: { grpc: { metadata: { "my.space": '{"body": string(request.body)}' } } },
      }),
      part: route({
        includeRequestBody: { maxRequestBytes: 8, allowPartialMessage: true, packAsBytes: true },
      }),
      cached: route({ cache: { key: ['request.headers["x-user"]'], ttl: "60s" } }),
      open: route({ host: "127.0.0.1:1", failureMode: "allow" }),
      status: route({ host: "127.0.0.1:1", failureMode: { denyWithStatus: 503 } }),
      closed: route({ host: "127.0.0.1:1" }),
      slow: route({ policies: { http: { requestTimeout: "100ms" } } }),
      secure: route({
        host: new URL(secure.url).host,
        policies: {
          ...patient,
          backendTLS: { root: join(folder, "auth.pem"), hostname: "auth.test" },
          backendAuth: { key: "${TOKEN}" },
        },
      }),
      distrusted: route({
        host: new URL(secure.url).host,
        policies: { ...patient, backendTLS: { hostname: "auth.test" } },
      }),
      later: {
        policies: {
          extAuthz: { host, policies: patient },
          authorization: { rules: ['extauthz.role == "admin"'] },
          transformations: { request: { set: { "x-role": "extauthz.role" } } },
        },
      },
    },
    echo,
    {},
    { TOKEN: "abc" },
  );
});

/** Sends a request whose verdict is in the header. */
function ask(
  path: string,
  verdict: object = {},
  headers: Record<string, string> = {},
  body?: string,
) {
  const all = { "x-verdict": JSON.stringify(verdict), ...headers };
  return send(`${gateway.url}${path}`, body === undefined ? "GET" : "POST", all, body);
}

/** Returns the check requests about a path. */
function asked(path: string): readonly SeenMessage[] {
  const of = ({ message }: SeenMessage) => message.attributes.request.http.path === path;
  return services.seen().filter((each) => each.call === "Check" && of(each));
}

function received(response: Response): {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
} {
  return JSON.parse(response.body);
}

describe("extAuthz over gRPC", () => {
  it("asks about the request as Envoy does", async () => {
    const response = await ask("/plain/a?b=c", {}, { "x-some": "1", cookie: "a=b" });
    expect(response.status).toBe(200);
    const [{ message, timeout, metadata }] = asked("/plain/a?b=c") as [SeenMessage];
    const { attributes } = message;
    expect(attributes.request.http).toMatchObject({
      method: "GET",
      host: `127.0.0.1:${gateway.port}`,
      scheme: "http",
      protocol: "HTTP/1.1",
    });
    expect(attributes.request.http.headers).toMatchObject({
      ":method": "GET",
      ":path": "/plain/a?b=c",
      ":authority": `127.0.0.1:${gateway.port}`,
      ":scheme": "http",
      "x-some": "1",
      cookie: "a=b",
    });
    expect(attributes.source.address.socket_address.address).toBe("127.0.0.1");
    expect(attributes.destination.address.socket_address.port_value).toBe(gateway.port);
    expect(Math.abs(Date.parse(attributes.request.time) - Date.now())).toBeLessThan(600_000);
    expect(attributes.metadata_context).toEqual({});
    expect(timeout).toBeLessThanOrEqual(60);
    expect(metadata).not.toHaveProperty("authorization");
  });

  it("takes two seconds at most unless the configuration allows more", async () => {
    await ask("/unlimited");
    expect(asked("/unlimited")[0]?.timeout).toBeLessThanOrEqual(2);
  });

  it("sends UTF-8 with long, repeated and empty values", async () => {
    const long = "é".repeat(7_000);
    const headers = { "x-long": long, "x-empty": "", cookie: ["a=1", "b=2"], "x-two": ["1", "2"] };
    const asking = request(`${gateway.url}/plain/utf`, { headers });
    const [response] = await once(asking.end(), "response");
    response.resume();
    expect(response.statusCode).toBe(200);
    expect(asked("/plain/utf")[0]?.message.attributes.request.http.headers).toMatchObject({
      "x-long": long,
      "x-empty": "",
      cookie: "a=1; b=2",
      "x-two": "1, 2",
    });
  });

  it("reads and writes header bytes unchanged", async () => {
    // Node's client sends the low byte of each character, and its server reads them that way.
    const bytes = Buffer.from("café ☕").toString("latin1");
    const verdict = { ok_response: { headers: [{ header: { key: "x-new", value: "café" } }] } };
    const response = await ask("/plain/bytes", verdict, { "x-sent": bytes });
    expect(asked("/plain/bytes")[0]?.message.attributes.request.http.headers).toMatchObject({
      "x-sent": "café ☕",
    });
    const { "x-new": set, "x-sent": sent } = received(response).headers;
    expect(Buffer.from(String(set), "latin1").toString()).toBe("café");
    expect(sent).toBe(bytes);
  });

  it("sends context, metadata of expressions, and only the configured headers", async () => {
    await ask("/context");
    await ask("/earlierContext");
    await ask("/few", {}, { "x-some": "1", "x-other": "2" });
    const [earlier] = asked("/earlierContext");
    expect(earlier?.message.attributes.context_extensions).toEqual({ team: "red" });
    const [context] = asked("/context");
    expect(context?.message.attributes.context_extensions).toEqual({ team: "blue" });
    expect(context?.message.attributes.metadata_context.filter_metadata).toEqual({
      "my.space": { path: "/context" },
    });
    const [few] = asked("/few");
    expect(few?.message.attributes.request.http.headers).toEqual({
      ":path": "/few",
      "x-some": "1",
    });
  });

  it("changes the request and the response as the server says, except its destination", async () => {
    const option = (key: string, value: string, more: object = {}) => ({
      header: { key, value },
      ...more,
    });
    const response = await ask(
      "/plain/change?drop=1&keep=2",
      {
        ok_response: {
          headers: [
            option("x-set", "new"),
            option("x-added", "two", { append: true }),
            option("x-there", "no", { append_action: "ADD_IF_ABSENT" }),
            option("x-missing", "no", { append_action: "OVERWRITE_IF_EXISTS" }),
            { header: { key: "x-raw", raw_value: Buffer.from("raw").toString("base64") } },
            option(":path", "/elsewhere"),
            option("host", "elsewhere"),
            option("content-length", "7"),
          ],
          headers_to_remove: ["x-secret", "host"],
          query_parameters_to_set: [{ key: "who", value: "a b" }],
          query_parameters_to_remove: ["drop"],
          response_headers_to_add: [option("x-verdict-by", "server")],
        },
      },
      { "x-set": "old", "x-added": "one", "x-there": "yes", "x-secret": "s" },
    );
    const { url, headers } = received(response);
    expect(url).toBe("/plain/change?keep=2&who=a%20b");
    expect(headers).toMatchObject({
      "x-set": "new",
      "x-added": "one, two",
      "x-there": "yes",
      "x-raw": "raw",
    });
    expect(headers).not.toHaveProperty("x-missing");
    expect(headers).not.toHaveProperty("x-secret");
    expect(response.headers["x-verdict-by"]).toBe("server");
  });

  it("gives a refused client the server's response, or a plain 403", async () => {
    const denied = await ask("/plain", {
      status: { code: 16 },
      denied_response: {
        status: { code: "Unauthorized" },
        headers: [{ header: { key: "www-authenticate", value: "Bearer" } }],
        body: "log in",
      },
    });
    expect([denied.status, denied.body]).toEqual([401, "log in"]);
    expect(denied.headers).toMatchObject({
      "www-authenticate": "Bearer",
      "content-type": "text/plain",
    });
    const plain = await ask("/plain", { status: { code: 7 } });
    expect([plain.status, plain.body]).toEqual([403, "external authorization failed"]);
    // Only the status decides.
    const allowed = await ask("/plain", { denied_response: { body: "no" } });
    expect(allowed.status).toBe(200);
  });

  it("ends gRPC calls with a status and the server's body as its message", async () => {
    const call = (verdict: object) =>
      send(
        `${gateway.url}/plain`,
        "POST",
        {
          "content-type": "application/grpc",
          te: "trailers",
          "x-verdict": JSON.stringify(verdict),
        },
        Buffer.alloc(5),
      );
    const denied = { status: { code: "TooManyRequests" }, body: "spät: 100 %\n" };
    const { status, headers, body } = await call({
      status: { code: 7 },
      denied_response: { ...denied, headers: [{ header: { key: "x-why", value: "late" } }] },
    });
    expect([status, body]).toEqual([200, ""]);
    expect(headers).toMatchObject({
      "content-type": "application/grpc",
      "grpc-status": "8",
      "x-why": "late",
    });
    expect(decodeURIComponent(String(headers["grpc-message"]))).toBe("spät: 100 %\n");
  });

  it("logs that the server denied, and its status", async () => {
    await ask("/plain", { status: { code: 16 } });
    await gateway.seen(
      /error="external authorization: denied by 127\.0\.0\.1:\d+ \(gRPC status 16\)" reason=ExtAuth/,
    );
  });

  it("provides the server's metadata to later rules", async () => {
    const admin = await ask("/later", { dynamic_metadata: { role: "admin" } });
    expect(received(admin).headers["x-role"]).toBe("admin");
    expect((await ask("/later", { dynamic_metadata: { role: "guest" } })).status).toBe(403);
    expect((await ask("/later")).status).toBe(403);
  });

  it("sends the body if configured, and refuses or truncates a longer one", async () => {
    expect((await ask("/body", {}, {}, "12345678")).status).toBe(200);
    expect(await ask("/body", {}, {}, "123456789")).toMatchObject({
      status: 413,
      body: expect.stringContaining("includeRequestBody.maxRequestBytes, forwardBody.maxSize"),
    });
    const [body, ...others] = asked("/body");
    expect(body?.message.attributes.request.http).toMatchObject({ body: "12345678", size: "8" });
    expect(others).toEqual([]);
    await ask("/part", {}, {}, "123456789");
    const [part] = asked("/part");
    expect(part?.message.attributes.request.http).toMatchObject({
      raw_body: Buffer.from("12345678").toString("base64"),
      size: "-1",
    });
  });

  it("bounds the body for the server, even if it was read before", async () => {
    expect((await ask("/readBefore", {}, {}, "12345678")).status).toBe(200);
    expect((await ask("/readBefore", {}, {}, "123456789")).status).toBe(413);
  });

  it("sets an empty header, which replaces the client's", async () => {
    const option = { header: { key: "x-user", value: "" } };
    const response = await ask(
      "/plain",
      { ok_response: { headers: [option] } },
      { "x-user": "me" },
    );
    expect(received(response).headers["x-user"]).toBe("");
  });

  it("caches verdicts by key, and asks once at a time", async () => {
    const denial = { status: { code: 7 } };
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => ask("/cached", denial, { "x-user": "a" })),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(403));
    expect(asked("/cached")).toHaveLength(1);
    expect((await ask("/cached", {}, { "x-user": "a" })).status).toBe(403);
    expect((await ask("/cached", {}, { "x-user": "b" })).status).toBe(200);
    expect(asked("/cached")).toHaveLength(2);
    // A failed key is not used.
    await ask("/cached");
    await ask("/cached");
    expect(asked("/cached")).toHaveLength(4);
  });

  it("calls servers over TLS with the gateway's own credentials", async () => {
    expect((await ask("/secure")).status).toBe(200);
    expect(secure.seen()[0]?.metadata.authorization).toBe("Bearer abc");
    expect((await ask("/distrusted")).status).toBe(403);
    await gateway.seen(/self-signed certificate/);
  });

  it.each([
    ["a server that is not there", "/closed", {}, 403],
    ["an error of the server", "/plain", { abort: "INTERNAL" }, 403],
    ["a server that takes too long", "/slow", { sleep: 1 }, 403],
    ["a server that takes longer than an earlier timeout", "/earlierSlow", { sleep: 1 }, 403],
    ["a configured status", "/status", {}, 503],
    ["an earlier statusOnError", "/earlierStatus", {}, 503],
    ["an earlier failOpen", "/earlierOpen", {}, 200],
    ["a mode that lets requests pass", "/open", {}, 200],
  ])("without a verdict: %s", async (_name, path, verdict, status) => {
    const response = await ask(path, verdict);
    expect(response.status).toBe(status);
    if (status !== 200) expect(response.body).toBe("external authorization failed");
  });
});

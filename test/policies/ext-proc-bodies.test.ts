import { once } from "node:events";
import { createServer, request } from "node:http";
import { type ClientHttp2Session, connect, createServer as createHttp2Server } from "node:http2";
import { buffer, text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { send } from "../harness/send.ts";
import { nowhere, startRoutes } from "./routes.ts";

const modes = ["none", "streamed", "buffered", "bufferedPartial", "fullDuplexStreamed"] as const;

/** Maximum number of bytes of a body in one piece, unless configured. */
const most = 2 * 1024 * 1024;

let services: EnvoyServices;
let gateway: Gateway;

beforeAll(async () => {
  services = await startEnvoyServices();
  // Returns the body, or responds before it has read anything: with all of it, or with a beginning until it has counted.
  const server = createServer((asked, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    if (asked.headers["x-done"] !== undefined) {
      response.end("done");
      return;
    }
    if (asked.headers["x-early"] === undefined) {
      asked.pipe(response);
      return;
    }
    response.write("got ");
    let length = 0;
    asked.on("data", (piece) => {
      length += piece.length;
    });
    asked.on("end", () => response.end(String(length)));
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const host = new URL(services.url).host;
  const routes = modes.flatMap((mode) =>
    (["failClosed", "failOpen"] as const).map((failureMode) => {
      const processingOptions = { requestBodyMode: mode, responseBodyMode: mode };
      const extProc = { host, policies: patient, processingOptions, failureMode };
      return [`${mode}-${failureMode}`, { policies: { extProc } }] as const;
    }),
  );
  const requests = ["streamed", "fullDuplexStreamed"].map((mode) => {
    const processingOptions = { requestBodyMode: mode, responseBodyMode: "none" };
    return [
      `${mode}-request`,
      { policies: { extProc: { host, policies: patient, processingOptions } } },
    ] as const;
  });
  const slow = ["streamed", "fullDuplexStreamed"].map((mode) => {
    const processingOptions = { requestBodyMode: mode, responseBodyMode: mode };
    const policies = { http: { requestTimeout: "4s" } };
    return [
      `${mode}-slow`,
      { policies: { extProc: { host, processingOptions, policies } } },
    ] as const;
  });
  const refused = {
    policies: {
      extProc: { host, policies: patient, processingOptions: { requestBodyMode: "none" } },
      csrf: {},
    },
  };
  gateway = await startRoutes(
    { ...Object.fromEntries([...routes, ...requests, ...slow]), refused },
    { url },
  );
});

/** Sends a POST with a script for the processor; returns a status, or "broken". */
async function post(route: string, script: object, body: Buffer) {
  const headers = { "x-process": JSON.stringify(script) };
  return send(`${gateway.url}/${route}`, "POST", headers, body).catch(() => "broken" as const);
}

/** Returns the processor's script for replacing a piece. */
function instead(phase: "request_body" | "response_body", text: string): object {
  return { [phase]: { [phase]: { response: { body_mutation: { body: btoa(text) } } } } };
}

describe.each(modes)("extProc with bodies that are %s", (mode) => {
  it.each([0, 1, 100_000, 5_000_000, 20_000_000])("passes %i bytes both ways", async (size) => {
    const body = Buffer.alloc(size, "abcdefghij");
    const response = await post(`${mode}-failClosed`, {}, body);
    if (mode === "buffered" && size > most) {
      expect(response).toMatchObject({ status: 413 });
      return;
    }
    expect(response).toMatchObject({ status: 200 });
    expect(response !== "broken" && body.equals(Buffer.from(response.body))).toBe(true);
  });

  const phases = ["request_headers", "response_headers"];
  if (mode !== "none") phases.push("request_body", "response_body");

  it.each(
    phases.flatMap((phase) => [
      [phase, "an error", { abort: "INTERNAL" }],
      [phase, "an end", { end: true }],
      [phase, "an unexpected response", { [other(phase)]: {} }],
    ]),
  )(
    "never forwards what a processor had when it died at the %s by %s",
    async (phase, _how, script) => {
      const body = Buffer.from("hello");
      const closed = await post(`${mode}-failClosed`, { [String(phase)]: script }, body);
      // The head of the response may have been sent by then: it is aborted.
      if (closed !== "broken") expect(closed.status).toBe(500);
      const open = await post(`${mode}-failOpen`, { [String(phase)]: script }, body);
      const hasBytes = mode !== "none" && phase !== "request_headers";
      const hasAny = hasBytes || mode === "fullDuplexStreamed";
      if (open !== "broken") expect(open.status).toBe(hasAny ? 500 : 200);
      else expect(hasAny).toBe(true);
    },
  );
});

it.each(["buffered", "bufferedPartial"])(
  "passes 20 MB both ways in one message if the buffers allow it: %s",
  async (mode) => {
    const echo = createServer((asked, response) => asked.pipe(response));
    const host = new URL(services.url).host;
    const processingOptions = { requestBodyMode: mode, responseBodyMode: mode };
    const routes = [
      {
        policies: { extProc: { host, policies: patient, processingOptions } },
        backends: [{ host: `127.0.0.1:${await listen(echo)}` }],
      },
    ];
    const frontendPolicies = { http: { maxBufferSize: 32 * 1024 * 1024 } };
    const own = await startGateway({ listeners: [{ routes }], file: { frontendPolicies } });
    const body = Buffer.alloc(20_000_000, "abcdefghij");
    const before = services.seen().length;
    const response = await send(own.url, "POST", {}, body);
    expect(response.status).toBe(200);
    expect(body.equals(Buffer.from(response.body))).toBe(true);
    const sizes = services
      .seen()
      .slice(before)
      .flatMap(({ message }) => [message.request_body, message.response_body])
      .flatMap((piece) => (piece === undefined ? [] : [Buffer.from(piece.body, "base64").length]));
    expect(sizes).toEqual([body.length, body.length]);
  },
);

it.each(["none", "streamed", "fullDuplexStreamed"])(
  "passes a response that is complete before its request, with bodies that are %s",
  async (mode) => {
    const asking = request(`${gateway.url}/${mode}-failClosed`, {
      method: "POST",
      headers: { "x-done": "1" },
    });
    asking.write("hello");
    const [response] = await once(asking, "response");
    expect(response.statusCode).toBe(200);
    expect(await text(response)).toBe("done");
    asking.end(" and more");
  },
);

it.concurrent.each(["streamed", "fullDuplexStreamed"])(
  "waits longer for a slow client than for the processor: %s",
  async (mode) => {
    const size = 20_000_000;
    const asking = request(`${gateway.url}/${mode}-slow`, { method: "POST" });
    asking.end(Buffer.alloc(size, "a"));
    const [response] = await once(asking, "response");
    // Twice the processor's deadline, during which all buffers between client and backend fill up.
    await new Promise((resolve) => setTimeout(resolve, 8000));
    expect((await buffer(response)).length).toBe(size);
  },
);

/** Returns the phase that waits for no response. */
function other(phase: string): string {
  return phase.startsWith("request") ? "response_headers" : "request_headers";
}

/** The trailers of a response that a processor gets, by the beginning of the route's name. */
const trailerOptions = {
  send: { responseTrailerMode: "send" },
  skip: { responseTrailerMode: "skip" },
  wanted: { responseTrailerMode: "skip", allowModeOverride: true },
};

/** Opens routes to a server with a trailer after `hello`, by the trailers and bodies that the processor gets. */
async function openTrailers(): Promise<ClientHttp2Session> {
  const server = createHttp2Server();
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
    stream.end("hello");
  });
  const backends = [
    { host: `127.0.0.1:${await listen(server)}`, policies: { http: { version: "HTTP2" } } },
  ];
  const host = new URL(services.url).host;
  const routes = Object.entries(trailerOptions).flatMap(([name, options]) =>
    modes.map((responseBodyMode) => {
      const extProc = {
        host,
        policies: patient,
        processingOptions: { responseBodyMode, ...options },
      };
      return [`${name}-${responseBodyMode}`, { policies: { extProc }, backends }] as const;
    }),
  );
  const own = await startRoutes(Object.fromEntries(routes), nowhere);
  const session = connect(own.url);
  atEnd(() => session.destroy());
  return session;
}

/** Returns body and trailers of a response, or "broken". */
async function trailersOf(session: ClientHttp2Session, route: string, script: object) {
  const fields = { te: "trailers", "x-process": JSON.stringify(script) };
  const stream = session.request({ ":path": `/${route}`, ...fields });
  let trailers: object = {};
  stream.on("trailers", (fields) => {
    trailers = { ...fields };
  });
  return text(stream).then(
    (body) => [body, trailers],
    () => "broken",
  );
}

const changedTrailers = {
  response_trailers: {
    response_trailers: {
      header_mutation: {
        set_headers: [
          { header: { key: "x-sum", raw_value: btoa("2") } },
          { header: { key: "x-more", value: "yes" } },
          { header: { key: "connection", value: "no" } },
        ],
      },
    },
  },
};

describe("extProc", () => {
  let session: ClientHttp2Session;

  beforeAll(async () => {
    session = await openTrailers();
  });

  it.each([
    ["changes", "send", { "x-sum": "2", "x-more": "yes" }],
    ["leaves", "skip", { "x-sum": "1" }],
  ])("%s the trailers of responses in all modes of bodies: %s", async (_what, mode, expected) => {
    const before = services.seen().length;
    for (const bodyMode of modes) {
      expect([
        bodyMode,
        await trailersOf(session, `${mode}-${bodyMode}`, changedTrailers),
      ]).toMatchObject([bodyMode, ["hello", expected]]);
    }
    const shown = () =>
      services
        .seen()
        .slice(before)
        .flatMap(({ message }) => message.response_trailers ?? []);
    const trailers = { headers: [{ key: "x-sum", raw_value: btoa("1") }] };
    const all = mode === "send" ? modes.map(() => ({ trailers })) : [];
    // The processor's log entry for the last one may arrive after the response.
    await eventually(() => shown().length >= all.length || null, "what the processor was shown");
    expect(shown()).toEqual(all);
  });

  it("sends trailers to a processor that requests them", async () => {
    const mode_override = { response_trailer_mode: "SEND" };
    const script = {
      ...changedTrailers,
      response_headers: { response_headers: {}, mode_override },
    };
    expect(await trailersOf(session, "wanted-none", script)).toMatchObject([
      "hello",
      { "x-more": "yes" },
    ]);
  });

  it.each(modes)(
    "aborts a response whose trailers the processor has not seen: %s",
    async (mode) => {
      for (const script of [{ abort: "INTERNAL" }, { end: true }, { response_headers: {} }]) {
        const result = await trailersOf(session, `send-${mode}`, { response_trailers: script });
        expect([script, result]).toEqual([script, "broken"]);
      }
    },
  );

  it.each(["streamed-request", "fullDuplexStreamed-request"])(
    "continues a request whose response has begun: %s",
    async (route) => {
      const response = await send(
        `${gateway.url}/${route}`,
        "POST",
        { "x-early": "1" },
        Buffer.alloc(2_000_000, "a"),
      );
      expect(response.body).toBe("got 2000000");
    },
  );

  it("keeps no call open for a request that is refused after it", async () => {
    // The server has 64 threads, and each open call uses one.
    const headers = { origin: "http://elsewhere.test", host: "here.test" };
    const url = `${gateway.url}/refused`;
    for (let i = 0; i < 80; i += 1) {
      expect((await send(url, "POST", headers)).status).toBe(403);
    }
  });

  it("changes pieces one by one", async () => {
    const changed = { ...instead("request_body", "x") };
    const body = Buffer.alloc(300_000, "a");
    const response = await post("streamed-failClosed", changed, body);
    // As many as there were pieces.
    expect(response).toMatchObject({ status: 200, body: expect.stringMatching(/^x{2,}$/) });
  });

  it("changes the beginning of a body and forwards the rest", async () => {
    const size = most + 500_000;
    const changed = { ...instead("request_body", "start:"), ...instead("response_body", "begin:") };
    const response = await post("bufferedPartial-failClosed", changed, Buffer.alloc(size, "a"));
    const rest = size - most - (most - "start:".length);
    expect(response).toMatchObject({ status: 200 });
    expect(response !== "broken" && response.body).toBe(`begin:${"a".repeat(Math.max(0, rest))}`);
  });
});

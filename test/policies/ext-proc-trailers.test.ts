import { connect, createServer as createHttp2Server, type IncomingHttpHeaders } from "node:http2";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { nowhere, startRoutes } from "./routes.ts";

const modes = ["none", "streamed", "buffered", "bufferedPartial", "fullDuplexStreamed"] as const;

let services: EnvoyServices;
let gateway: Gateway;
/** The requests that the upstream received: complete bodies, with their trailers. */
const got: { readonly path: string; readonly body: string; readonly trailers: object }[] = [];
let broken = 0;

beforeAll(async () => {
  services = await startEnvoyServices();
  const server = createHttp2Server();
  server.on("stream", (stream, headers) => {
    let trailers: IncomingHttpHeaders = {};
    stream.on("trailers", (fields) => {
      trailers = fields;
    });
    stream.on("error", () => {});
    stream.on("aborted", () => {
      broken += 1;
    });
    const path = String(headers[":path"]);
    text(stream).then(
      (body) => {
        if (stream.aborted) return;
        got.push({ path, body, trailers: Object.fromEntries(Object.entries(trailers)) });
        stream.respond({ ":status": 200 });
        stream.end("ok");
      },
      () => {},
    );
  });
  const backends = [
    { host: `127.0.0.1:${await listen(server)}`, policies: { http: { version: "HTTP2" } } },
  ];
  const host = new URL(services.url).host;
  const routes = modes.flatMap((requestBodyMode) =>
    ["send", "skip"].map((requestTrailerMode) => {
      const processingOptions = {
        ...{ requestBodyMode, requestTrailerMode, responseBodyMode: "none" },
        allowModeOverride: true,
      };
      const extProc = { host, policies: patient, processingOptions };
      return [
        `${requestBodyMode}-${requestTrailerMode}`,
        { policies: { extProc }, backends },
      ] as const;
    }),
  );
  const open = {
    host,
    policies: patient,
    processingOptions: { requestBodyMode: "none" },
    failureMode: "failOpen",
  };
  const all = [...routes, ["open", { policies: { extProc: open }, backends }] as const];
  gateway = await startRoutes(Object.fromEntries(all), nowhere);
});

/** Sends a body with a trailer and a script for the processor; returns a status, or "broken". */
async function post(route: string, script: object, body = "hello"): Promise<number | "broken"> {
  const session = connect(gateway.url);
  atEnd(() => session.destroy());
  const head = { ":method": "POST", ":path": `/${route}`, "x-process": JSON.stringify(script) };
  const stream = session.request(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
  let status = 0;
  stream.on("response", (fields) => {
    status = Number(fields[":status"]);
  });
  stream.end(body);
  return text(stream).then(
    () => status,
    () => "broken" as const,
  );
}

/** The messages that the processor received for a route with a script; messages about other requests may arrive late. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes.
function told(route: string, script: object): readonly any[] {
  const wanted = [`/${route}`, JSON.stringify(script)].map(btoa);
  const seen = services.seen();
  const calls = seen.flatMap(({ id, message }) => {
    const values = message.request_headers?.headers.headers.map(
      (each: { readonly raw_value: string }) => each.raw_value,
    );
    return wanted.every((value) => values?.includes(value)) ? id : [];
  });
  return seen.filter(({ id }) => calls.includes(id)).map(({ message }) => message);
}

const trailers = { headers: [{ key: "x-sum", raw_value: btoa("1") }] };

const changed = {
  request_trailers: {
    request_trailers: {
      header_mutation: {
        set_headers: [
          { header: { key: "x-sum", raw_value: btoa("2") } },
          { header: { key: "x-more", value: "yes" } },
          { header: { key: "authorization", value: "no" } },
        ],
      },
    },
  },
};

describe.each(modes)("trailers of a request whose body is %s", (mode) => {
  it("are sent to the processor after the body, and forwarded as it changes them", async () => {
    const route = `${mode}-send`;
    for (const body of ["hello", "", "x".repeat(300_000)]) {
      got.length = 0;
      expect(await post(route, changed, body)).toBe(200);
      expect(got).toEqual([
        { path: `/${route}`, body, trailers: { "x-sum": "2", "x-more": "yes" } },
      ]);
    }
    const shown = () => told(route, changed).flatMap((each) => each.request_trailers ?? []);
    await eventually(() => shown().length >= 3 || null, "what the processor was told");
    expect(shown()).toEqual([{ trailers }, { trailers }, { trailers }]);
    const messages = told(route, changed);
    const ends = messages.map(({ request_body }) => request_body?.end_of_stream);
    expect(ends.filter((isEnd) => isEnd === true)).toEqual([]);
  });

  it("are forwarded unseen if the processor gets none", async () => {
    got.length = 0;
    expect(await post(`${mode}-skip`, changed)).toBe(200);
    const mode_override = { request_trailer_mode: "SKIP" };
    const script = { ...changed, request_headers: { request_headers: {}, mode_override } };
    if (mode !== "fullDuplexStreamed") expect(await post(`${mode}-send`, script)).toBe(200);
    expect(got.map((each) => each.trailers)).toEqual(got.map(() => ({ "x-sum": "1" })));
    const messages = [...told(`${mode}-skip`, changed), ...told(`${mode}-send`, script)];
    expect(messages.length).toBeGreaterThan(0);
    expect(messages.filter(({ request_trailers }) => request_trailers)).toEqual([]);
  });

  it.each([
    ["an error", { abort: "INTERNAL" }],
    ["an end", { end: true }],
    ["an unexpected response", { request_headers: {} }],
  ])("are never forwarded when the processor had them and died: %s", async (_how, script) => {
    got.length = 0;
    const before = broken;
    expect(await post(`${mode}-send`, { request_trailers: script })).toBe(500);
    await eventually(() => broken > before || null, "the end of the request to the server");
    expect(got).toEqual([]);
  });

  it("may make the processor respond to the client", async () => {
    got.length = 0;
    const immediate_response = { status: { code: "Forbidden" } };
    expect(await post(`${mode}-send`, { request_trailers: { immediate_response } })).toBe(403);
    expect(got).toEqual([]);
  });
});

it("trailers are forwarded when the processor fails and requests may pass", async () => {
  got.length = 0;
  expect(await post("open", { request_trailers: { abort: "INTERNAL" } })).toBe(200);
  expect(got).toMatchObject([{ body: "hello", trailers: { "x-sum": "1" } }]);
});

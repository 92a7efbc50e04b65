import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startHeaderEditingServices, type WantedEdit } from "../harness/header-editing-services.ts";
import { patient } from "../harness/patient-callout.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startRawUpstream } from "../harness/raw-upstream.ts";
import { type Origin, startOrigin } from "./origin.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 20 : 500;

/** Any value that a client can make an expression return. */
const decoded = 'string(base64.decode(request.headers["x-text"]))';
/** Headers that servers of Envoy's protocols set. */
const wanted: WantedEdit = { name: "x-user", value: "", action: 0 };

let origin: Origin;
let gateway: Gateway;

/** The policy that edits the header, by its route. */
const servers = ["ext-authz", "ext-proc", "ext-proc-body", "rate-limit"];
const expressions = ["set", "add", "replace", "backend-set", "backend-add", "backend-replace"];
const lines = ["path", "authority", "method", "backend-path"];

beforeAll(async () => {
  origin = await startOrigin();
  const host = await startHeaderEditingServices(wanted);
  const verdicts = await startRawUpstream((socket) => {
    socket.on("data", () => {
      const head = `HTTP/1.1 200 OK\r\nx-user: ${wanted.value}\r\ncontent-length: 0\r\n`;
      socket.end(`${head}connection: close\r\n\r\n`, "latin1");
    });
  });
  const change = (request: object) => ({ transformations: { request } });
  const nothing = {
    ...{ requestHeaderMode: "skip", requestBodyMode: "none", requestTrailerMode: "skip" },
    ...{ responseHeaderMode: "skip", responseBodyMode: "none", responseTrailerMode: "skip" },
  };
  const processed = (options: object) => ({
    extProc: { host, policies: patient, processingOptions: { ...nothing, ...options } },
  });
  const http = { http: { includeResponseHeaders: ["x-user"] } };
  const entries = [{ key: "a", value: "'a'" }];
  const policies: Readonly<Record<string, object>> = {
    "ext-authz": { extAuthz: { host, policies: patient } },
    "ext-authz-http": {
      extAuthz: { host: new URL(verdicts).host, protocol: http, policies: patient },
    },
    "ext-proc": processed({ requestHeaderMode: "send" }),
    "ext-proc-body": processed({ requestBodyMode: "buffered" }),
    "ext-proc-trailers": processed({ requestTrailerMode: "send" }),
    "rate-limit": {
      remoteRateLimit: { host, policies: patient, domain: "a", descriptors: [{ entries }] },
    },
    set: change({ set: { "x-user": decoded } }),
    add: change({ add: { "x-user": decoded } }),
    replace: change({ replace: `{"x-user": ${decoded}}` }),
    "replace-failing": change({ replace: `json(${decoded})` }),
    path: change({ set: { ":path": decoded } }),
    authority: change({ set: { ":authority": decoded } }),
    method: change({ set: { ":method": decoded } }),
  };
  const onBackend: Readonly<Record<string, object>> = {
    "backend-set": change({ set: { "x-user": decoded } }),
    "backend-add": change({ add: { "x-user": decoded } }),
    "backend-replace": change({ replace: `json(${decoded})` }),
    "backend-path": change({ set: { ":path": decoded } }),
  };
  const route = (name: string, own: object, ofBackend: object) => ({
    name,
    matches: [{ path: { exact: `/${name}` } }],
    policies: own,
    backends: [{ host: origin.host, policies: ofBackend }],
  });
  const routes = [
    ...Object.entries(policies).map(([name, each]) => route(name, each, {})),
    ...Object.entries(onBackend).map(([name, each]) => route(name, {}, each)),
  ];
  gateway = await startGateway({ listeners: [{ routes }] });
}, 120_000);

/** A value with at least one byte that no header has. */
const unsettable = fc
  .tuple(
    fc.string({ maxLength: 5 }),
    fc.constantFrom("\r\n", "\n", "\r", "\0", "\x01", "\x0b", "\x1f", "\x7f"),
    fc.string({ maxLength: 5 }),
  )
  .map((parts) => parts.join(""));

let count = 0;

/** Sends a request whose client claims to be somebody; gives its status and whether the origin got to know of that. */
async function claim(path: string, text: string, fields: string, trailers = "") {
  count += 1;
  const mark = `evil-${count}-`;
  const client = new RawClient(gateway.port);
  const encoded = Buffer.from(text.toWellFormed()).toString("base64");
  const head = `POST /${path} HTTP/1.1\r\nHost: a.test\r\nX-Text: ${encoded}\r\nConnection: close\r\n`;
  const body = "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n";
  client.send(`${head}${fields}${body}${trailers}\r\n`.replaceAll("EVIL", mark));
  await client.closes();
  const seen = origin.requests.splice(0);
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(client.received)?.[1]),
    isPassed: origin.bytes().includes(mark),
    seen,
    values: seen.flatMap(({ headers }) =>
      headers.filter(([name]) => name === "x-user").map(([, value]) => value),
    ),
  };
}

const claims = "X-User: EVIL\r\nX_User: EVIL\r\n";

describe("a value that no header has never leaves the client's own in place where it is set by", () => {
  it.each(servers)("%s", async (path) => {
    await fc.assert(
      fc.asyncProperty(unsettable, fc.nat({ max: 3 }), async (value, action) => {
        Object.assign(wanted, { name: "x-user", value, action });
        const { status, isPassed, values } = await claim(path, "", claims);
        expect([status, isPassed, values]).toEqual([200, false, []]);
      }),
      { numRuns: RUNS },
    );
    Object.assign(wanted, { name: "x-user", value: "anna", action: 2 });
    const set = await claim(path, "", claims);
    // The service of limits can only add.
    const isAdded = path === "rate-limit";
    expect([set.status, set.isPassed]).toEqual([200, isAdded]);
    expect(set.values).toContain("anna");
  });

  it("a server that writes blanks around the name", async () => {
    for (const name of ["x-user ", "\tX-User", " x-user\r\n"]) {
      Object.assign(wanted, { name, value: "anna", action: 2 });
      for (const path of servers)
        expect((await claim(path, "", claims)).isPassed, path).toBe(false);
    }
  });

  it("ext-authz-http", async () => {
    await fc.assert(
      fc.asyncProperty(unsettable, async (value) => {
        wanted.value = value;
        expect((await claim("ext-authz-http", "", claims)).isPassed).toBe(false);
      }),
      { numRuns: RUNS },
    );
    wanted.value = "anna";
    expect((await claim("ext-authz-http", "", claims)).values).toEqual(["anna"]);
  });

  it("ext-proc, in trailers", async () => {
    await fc.assert(
      fc.asyncProperty(unsettable, fc.nat({ max: 3 }), async (value, action) => {
        Object.assign(wanted, { name: "x-user", value, action });
        const found = await claim("ext-proc-trailers", "", "", "X-User: EVIL\r\n");
        expect([found.status, found.isPassed]).toEqual([200, false]);
      }),
      { numRuns: RUNS },
    );
  });

  it.each(expressions)("an expression: %s", async (path) => {
    await fc.assert(
      fc.asyncProperty(unsettable, async (text) => {
        const { status, isPassed, values } = await claim(path, text, claims);
        expect([status, isPassed, values]).toEqual([200, false, []]);
      }),
      { numRuns: RUNS },
    );
  });

  it.each(["replace-failing", "backend-replace"])("an expression that fails: %s", async (path) => {
    const { status, isPassed } = await claim(path, "no json", claims);
    expect([status, isPassed]).toEqual([200, false]);
  });

  it.each(lines)("an expression for a part of the request line: %s", async (path) => {
    await fc.assert(
      fc.asyncProperty(unsettable, async (text) => {
        const { status, seen } = await claim(path, `/${text}`, "");
        expect([status >= 400 && status <= 502, seen]).toEqual([true, []]);
      }),
      { numRuns: RUNS },
    );
  });
});

it("nothing that was set was read in two ways", () => {
  expect(origin.faults).toEqual([]);
});

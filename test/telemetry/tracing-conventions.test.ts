import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import {
  attributesOf,
  type CollectedSpan,
  items,
  type OtlpCollector,
  startCollector,
  tracedAll,
} from "../harness/otlp-collector.ts";
import { RawClient } from "../harness/raw-client.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

/** A gateway that traces all requests, before an upstream that aborts its response at `/cut`. */
async function start(tracing: object = {}) {
  const collector = await startCollector();
  const upstream = await startUpstream((request, response) => {
    if (request.url !== "/cut") {
      response.end(request.headers.traceparent);
      return;
    }
    response.writeHead(200, { "content-length": "100" });
    response.write("half of it", () => response.destroy());
  });
  const gateway = await startGateway({
    file: {
      frontendPolicies: {
        tracing: { host: collector.host, protocol: "http", randomSampling: true, ...tracing },
      },
    },
    listeners: [
      {
        routes: [
          { name: "all", backends: [{ host: upstream }] },
          {
            name: "gone",
            matches: [{ path: { exact: "/gone" } }],
            backends: [{ host: "127.0.0.1:1" }],
          },
        ],
      },
    ],
  });
  return { collector, gateway };
}

function serverSpan({ spans }: OtlpCollector): CollectedSpan {
  const found = spans.find(({ kind }) => kind === "SPAN_KIND_SERVER");
  if (found === undefined) throw new Error("no span of a request");
  return found;
}

/** Returns the names of the attributes of each span and resource, in order. */
function attributeNames({ requests }: OtlpCollector): readonly (readonly unknown[])[] {
  const owners = requests
    .flatMap(({ request }) => items(request, "resourceSpans"))
    .flatMap((each) => [
      Reflect.get(each, "resource"),
      ...items(each, "scopeSpans").flatMap((scope) => items(scope, "spans")),
    ]);
  return owners.map((owner) => items(owner, "attributes").map((each) => Reflect.get(each, "key")));
}

it("an aborted response is an error of its request's span, though its status was 200", async () => {
  const { collector, gateway } = await start();
  await expect(fetch(`${gateway.url}/cut`).then((response) => response.text())).rejects.toThrow();
  expect(await gateway.stop()).toBe(0);
  expect(serverSpan(collector)).toMatchObject({
    error: "UpstreamFailure",
    attributes: { "http.response.status_code": 200, "error.type": "UpstreamFailure" },
  });
});

it("retries are numbered", async () => {
  const collector = await startCollector();
  let asked = 0;
  const upstream = await startUpstream((_request, response) => {
    asked += 1;
    response.writeHead(asked < 3 ? 503 : 200).end();
  });
  const policies = { retry: { attempts: 3, codes: [503], backoff: "1ms" } };
  const gateway = await startGateway({
    file: tracedAll(collector),
    listeners: [{ routes: [{ policies, backends: [{ host: upstream }] }] }],
  });
  expect((await fetch(gateway.url)).status).toBe(200);
  expect(await gateway.stop()).toBe(0);
  const calls = collector.spans.filter(({ kind }) => kind === "SPAN_KIND_CLIENT");
  const said = calls.map(({ attributes }) => [
    attributes["http.response.status_code"],
    attributes["http.request.resend_count"],
  ]);
  expect(said).toEqual([
    [503, undefined],
    [503, 1],
    [200, 2],
  ]);
});

it("a method that a client invented is an attribute of its own, not part of span names", async () => {
  const { collector, gateway } = await start();
  await send(`${gateway.url}/dav`, "PROPFIND");
  expect(await gateway.stop()).toBe(0);
  expect(collector.spans.map(({ name }) => name)).toEqual(["HTTP", "HTTP /*"]);
  for (const { attributes } of collector.spans) {
    expect(attributes).toMatchObject({
      "http.request.method": "_OTHER",
      "http.request.method_original": "PROPFIND",
    });
  }
});

it("a request without a host has no host attribute", async () => {
  const { collector, gateway } = await start();
  const client = new RawClient(gateway.port);
  client.send("GET / HTTP/1.1\r\n\r\n");
  await client.closes();
  expect(await gateway.stop()).toBe(0);
  const { attributes } = serverSpan(collector);
  expect(attributes).toMatchObject({ "http.response.status_code": 400, error: "no Host header" });
  expect(attributes).not.toHaveProperty(["server.address"]);
});

it("an attribute occurs once per span or resource, even if several sources set it", async () => {
  const { collector, gateway } = await start({
    attributes: { "error.type": '"mine"', "http.route": '"own"' },
    resources: { "service.name": '"shop"' },
  });
  await fetch(`${gateway.url}/gone`);
  expect(await gateway.stop()).toBe(0);
  for (const names of attributeNames(collector)) expect(new Set(names).size).toBe(names.length);
  const { attributes, resource, error } = serverSpan(collector);
  expect(attributes).toMatchObject({ "error.type": "mine", "http.route": "own" });
  expect(error).toBe("UpstreamFailure");
  expect(resource).toMatchObject({ "service.name": "shop" });
});

it("only the defined flags of a client are forwarded", async () => {
  const { collector, gateway } = await start();
  const sent = async (version: string, flags: string) => {
    const traceparent = `${version}-${TRACE}-${SPAN}-${flags}`;
    return (await (await fetch(gateway.url, { headers: { traceparent } })).text()).slice(-2);
  };
  expect(await sent("00", "01")).toBe("01");
  // Recorded, with a random id (W3C Trace Context 2).
  expect(await sent("00", "ff")).toBe("03");
  // Of later versions only the first flag is known.
  expect(await sent("01", "ff")).toBe("01");
  expect(await gateway.stop()).toBe(0);
  expect(collector.spans).toHaveLength(6);
});

it("spans and records of a process have the same instance id", async () => {
  const collector = await startCollector();
  const server = { host: collector.host, protocol: "http" };
  const gateway = await startGateway({
    file: {
      frontendPolicies: {
        tracing: { ...server, randomSampling: true },
        accessLog: { otlp: server },
      },
    },
    listeners: [{ routes: [{ policies: { directResponse: { status: 200 } } }] }],
  });
  await fetch(gateway.url);
  expect(await gateway.stop()).toBe(0);
  const resources = collector.requests
    .flatMap(({ request }) => [
      ...items(request, "resourceSpans"),
      ...items(request, "resourceLogs"),
    ])
    .map((each) => attributesOf(Reflect.get(each, "resource")));
  expect(resources).toHaveLength(2);
  expect(resources[0]).toEqual(resources[1]);
  expect(resources[0]?.["service.instance.id"]).toMatch(/^[0-9a-f-]{36}$/);
});

import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { expositionOf } from "../harness/exposition.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { keepIdleConnections } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { nowhere, startRoutes } from "../policies/routes.ts";

const names = pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"));
const header = "x-gateway-destination-endpoint";

let picker: EnvoyServices;
let gateway: Gateway;
let port: number;
let strangerAsked = 0;
let stranger: string;

/** A model server that says who it is and what it got. */
function startModel(address: string): Server {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const body = Buffer.concat(pieces).toString();
      response.end(JSON.stringify({ address, body, header: request.headers[header] }));
    });
  }).listen(port, address);
  keepIdleConnections(server);
  atEnd(() => server.close());
  return server;
}

beforeAll(async () => {
  port = await freePort();
  // 127.0.0.4 is of the pool as well, and away.
  startModel("127.0.0.2");
  startModel("127.0.0.3");
  picker = await startEnvoyServices();
  stranger = await startUpstream((_request, response) => {
    strangerAsked += 1;
    response.end("stranger");
  });
  const pool = (more: object = {}) => ({
    policies: {},
    backends: [
      {
        inferencePool: {
          host: `pool.test:${port}`,
          endpointPicker: { host: new URL(picker.url).host, policies: patient },
          ...more,
        },
      },
    ],
  });
  gateway = await startRoutes(
    {
      closed: pool(),
      open: pool({ failureMode: "failOpen" }),
      gone: pool({ endpointPicker: { host: "127.0.0.1:1" } }),
      goneOpen: pool({ endpointPicker: { host: "127.0.0.1:1" }, failureMode: "failOpen" }),
      unknown: pool({ host: `unknown.invalid:${port}` }),
      shared: {
        policies: {},
        backends: ["127.0.0.2", "127.0.0.3", "127.0.0.4"].map((name, index) => ({
          weight: [1, 3, 0][index],
          inferencePool: {
            host: `${name}:${port}`,
            endpointPicker: { host: new URL(picker.url).host, policies: patient },
            failureMode: "failOpen",
          },
        })),
      },
      any: pool({ host: `unknown.invalid:${port}`, destinationMode: "passthrough" }),
    },
    nowhere,
    {},
    {
      NODE_OPTIONS: `--inspect-port=127.0.0.1:0 --import=${names}`,
      GWC_TEST_NAMES: JSON.stringify({ "pool.test": [["127.0.0.2", "127.0.0.3", "127.0.0.4"]] }),
    },
  );
});

/** A request for which the picker names endpoints. */
async function ask(
  path: string,
  picked: string | undefined,
  headers = {},
  body?: string,
  { url } = gateway,
) {
  const value = Buffer.from(picked ?? "").toString("base64");
  const mutation = { set_headers: [{ header: { key: header, raw_value: value } }] };
  const script =
    picked === undefined
      ? {}
      : { request_headers: { request_headers: { response: { header_mutation: mutation } } } };
  const all = { "x-process": JSON.stringify(script), ...headers };
  const method = body === undefined ? "GET" : "POST";
  const { status, body: text } = await send(`${url}/${path}`, method, all, body);
  return status === 200 ? JSON.parse(text) : { status, text };
}

describe("inferencePool", () => {
  it("sends each request to the endpoint that the picker names, with what it made of it", async () => {
    for (const address of ["127.0.0.3", "127.0.0.2"]) {
      const reached = await ask("closed", `${address}:${port}`, {}, "hello");
      expect(reached).toEqual({ address, body: "hello", header: `${address}:${port}` });
    }
    await gateway.seen(/inferencepool\.selected_endpoint=127\.0\.0\.3/);
  });

  it("offers the picker the pool's own endpoints", async () => {
    await ask("closed", `127.0.0.2:${port}`);
    const offered = ["127.0.0.2", "127.0.0.3", "127.0.0.4"].map((each) => `${each}:${port}`);
    expect(picker.seen().at(-1)?.message.metadata_context.filter_metadata).toMatchObject({
      "envoy.lb.subset_hint": { "x-gateway-destination-endpoint-subset": offered },
    });
  });

  it("tells the picker which endpoint has responded", async () => {
    const named = [`127.0.0.4:${port}`, `127.0.0.3:${port}`].join(",");
    await ask("closed", named, {}, "hello");
    const messages = picker.seen().map(({ message }) => message);
    const head = messages.findLast((each) => each.response_headers !== undefined);
    expect(head?.metadata_context.filter_metadata["envoy.lb"]).toEqual({
      "x-gateway-destination-endpoint-served": `127.0.0.3:${port}`,
    });
  });

  it("asks the endpoints that the picker names after one that is away, with the whole body", async () => {
    const named = [`127.0.0.4:${port}`, ` 127.0.0.3:${port}`].join(",");
    const body = "b".repeat(10_000);
    expect(await ask("closed", named, {}, body)).toMatchObject({ address: "127.0.0.3", body });
    const away = await ask("closed", `127.0.0.4:${port}`, {}, "hello");
    expect(away).toEqual({ status: 503, text: "upstream is not reachable" });
  });

  it("reaches no server outside of the pool, even if a client or picker names it", async () => {
    const other = new URL(stranger).host;
    const none = { status: 503, text: "no endpoint for this request" };
    expect(await ask("closed", other)).toEqual(none);
    expect(await ask("closed", `127.0.0.2:${port + 1}`)).toEqual(none);
    expect(await ask("closed", "pool.test")).toEqual(none);
    // A client's own header has no effect.
    expect(await ask("closed", undefined, { [header]: `127.0.0.2:${port}` })).toEqual(none);
    expect(await ask("closed", undefined, { [header]: other })).toEqual(none);
    expect(await ask("open", other)).toHaveProperty("address");
    expect(strangerAsked).toBe(0);
  });

  it("refuses requests without an endpoint, or sends them to any as configured", async () => {
    expect(await ask("gone", undefined)).toMatchObject({ status: 500 });
    expect(await ask("goneOpen", undefined, {}, "hello")).toMatchObject({ body: "hello" });
    expect(await ask("open", undefined)).toHaveProperty("address");
    expect(await ask("unknown", undefined)).toMatchObject({ status: 503 });
  });

  it("divides requests over several pools by weight, each with its own endpoints", async () => {
    const asked = Array.from({ length: 60 }, () => ask("shared", undefined));
    const reached = await Promise.all(asked);
    const counts = Map.groupBy(reached, ({ address }) => address);
    expect([...counts.keys()].toSorted()).toEqual(["127.0.0.2", "127.0.0.3"]);
    const [first = 0, second = 0] = ["127.0.0.2", "127.0.0.3"].map(
      (each) => counts.get(each)?.length,
    );
    expect(second).toBeGreaterThan(first);
    // No pool takes an endpoint of another one.
    const other = await ask("shared", `127.0.0.4:${port}`);
    expect(["127.0.0.2", "127.0.0.3"]).toContain(other.address);
  });

  it("asks whatever address the picker names, where the picker knows the endpoints by itself", async () => {
    const named = [`127.0.0.4:${port}`, `127.0.0.3:${port}`].join(",");
    expect(await ask("any", named, {}, "hello")).toMatchObject({ address: "127.0.0.3" });
    expect(picker.seen().at(-1)?.message.metadata_context.filter_metadata).toEqual({
      "envoy.lb": { "x-gateway-destination-endpoint-served": `127.0.0.3:${port}` },
    });
    const none = { status: 503, text: "no endpoint for this request" };
    for (const wrong of [
      "pool.test",
      `pool.test:${port}`,
      "127.0.0.2",
      "127.0.0.2:0",
      "127.1:80",
    ]) {
      expect(await ask("any", wrong), wrong).toEqual(none);
    }
    expect(await ask("any", undefined, { [header]: `127.0.0.2:${port}` })).toEqual(none);
  });

  it("asks for a service in the same way", async () => {
    const config = `
services:
  - { name: models, hostname: models.test, vips: [], ports: { 8000: 8000 } }
binds:
  - port: ${await freePort()}
    listeners:
      - routes:
          - backends:
              - service: { name: default/models, port: 8000 }
                policies:
                  inferenceRouting:
                    endpointPicker: { host: ${new URL(picker.url).host} }
                    destinationMode: passthrough
`;
    const own = await startGateway({ config });
    const reached = await ask("", `127.0.0.2:${port}`, {}, undefined, own);
    expect(reached).toMatchObject({ address: "127.0.0.2" });
    const { text } = await expositionOf(await own.statsPort());
    expect(text).toContain('upstream="models.test:8000"');
  });

  it("gives the client what the picker itself responds", async () => {
    const reply = { immediate_response: { status: { code: "TooManyRequests" } } };
    const headers = { "x-process": JSON.stringify({ request_headers: reply }) };
    expect((await send(`${gateway.url}/closed`, "GET", headers)).status).toBe(429);
  });
});

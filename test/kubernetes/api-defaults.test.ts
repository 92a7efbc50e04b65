import { globSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { freePort } from "../harness/free-port.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { itUnless } from "../harness/skip.ts";
import { defaultsOf, gatewayApiFile } from "./api-defaults.ts";
import { writtenManifests } from "./manifest-corpus.ts";
import { stored, verdictOf } from "./stored-manifests.ts";

const corpus = [...writtenManifests()];

describe("what an API server writes into manifests changes nothing", () => {
  it("there are manifests of every kind to try", () => {
    const kinds = new Set(corpus.flatMap(([, all]) => all.map(({ kind }) => kind)));
    for (const kind of ["HTTPRoute", "GRPCRoute", "Gateway", "ListenerSet", "GatewayPolicy"])
      expect(kinds).toContain(kind);
    expect(corpus.length).toBeGreaterThan(60);
  });

  it.each(corpus)("%s", (_, manifests) => {
    const [written, read] = [verdictOf(manifests), verdictOf(manifests.map(stored))];
    expect(read.said).toEqual(written.said);
    expect(read.programs).toEqual(written.programs);
  });
});

const backend = { apiVersion: "gwc.dev/v1alpha1", kind: "GatewayBackend", metadata: { name: "b" } };
const policy = { apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy", metadata: { name: "p" } };
const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "gw" }];

it.each([
  ["a region that is assumed", { ...backend, spec: { ai: { provider: { bedrock: {} } } } }],
  ["a section that says nothing", { ...policy, spec: { targetRefs, traffic: {} } }],
  [
    "conditional entries, which exclude others",
    { ...policy, spec: { targetRefs, traffic: { rateLimit: { conditional: [] } } } },
  ],
])("%s, is reported as it is written", (_, manifest) => {
  const { said } = verdictOf([manifest]);
  expect(said).not.toEqual([]);
  expect(verdictOf([stored(manifest)]).said).toEqual(said);
});

it("parameters of a Gateway that say one thing leave the others to those of its class", () => {
  const own = { ...backend, kind: "GatewayParameters" };
  for (const spec of [{ logging: { format: "json" } }, { mesh: { clusterId: "c" } }])
    expect(stored({ ...own, spec })).toEqual({ ...own, spec });
});

const module = path.join(os.homedir(), "go/pkg/mod/sigs.k8s.io/gateway-api@v1.5.1/config/crd");
const definitions = globSync(`${module}/{standard,experimental}/*.yaml`).sort();

itUnless(definitions.length > 0 ? undefined : "the Go module of the Gateway API is not here")(
  "the defaults are those of the Gateway API's definitions",
  () => {
    const found: Record<string, object> = {};
    for (const file of definitions) {
      const documents = parseAllDocuments(readFileSync(file, "utf8"));
      for (const document of documents) {
        const value: { kind?: string } | null = "toJS" in document ? document.toJS() : null;
        if (value?.kind !== "CustomResourceDefinition") continue;
        for (const [id, each] of defaultsOf(value)) found[id] = { ...found[id], ...each };
      }
    }
    const text = `${JSON.stringify(found, undefined, 2)}\n`;
    if (process.env.GATEWAY_API_DEFAULTS === "write") writeFileSync(gatewayApiFile, text);
    expect(JSON.parse(readFileSync(gatewayApiFile, "utf8"))).toEqual(found);
  },
);

it("a route behind a route is served as an API server stores both", async () => {
  const upstream = await startScripted((response) => response.end("served"));
  const [host, port] = upstream.host.split(":");
  const route = (name: string, spec: object) => ({
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" },
    metadata: { name },
    spec,
  });
  const match = (value: string) => [{ path: { value } }];
  const own = { apiVersion: "gwc.dev/v1alpha1", group: "gwc.dev" };
  const manifests = [
    {
      ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway" },
      metadata: { name: "gw" },
      spec: {
        gatewayClassName: "gwc",
        listeners: [{ name: "a", port: await freePort(), protocol: "HTTP" }],
      },
    },
    {
      ...{ apiVersion: own.apiVersion, kind: "GatewayBackend" },
      metadata: { name: "b" },
      spec: { static: { host, port: Number(port) } },
    },
    route("outer", {
      parentRefs: [{ name: "gw" }],
      rules: [
        {
          matches: match("/shop"),
          backendRefs: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: "inner" }],
        },
      ],
    }),
    route("inner", {
      rules: [
        {
          matches: match("/shop/cart"),
          backendRefs: [{ group: own.group, kind: "GatewayBackend", name: "b" }],
        },
      ],
    }),
  ];
  const text = manifests.map((each) => JSON.stringify(stored(each))).join("\n---\n");
  const gateway = await startIsolated(text);
  const ask = async (path: string) => (await send(`${gateway.url}${path}`, "GET")).status;
  expect([await ask("/shop/cart"), await ask("/shop/other")]).toEqual([200, 404]);
});

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { startEnvoyServices } from "../harness/envoy-services.ts";
import { freePort, freePorts } from "../harness/free-port.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { initialize, post } from "../mcp/raw-client.ts";
import { mcpResponses, startUpstream } from "../mcp/raw-upstream.ts";

it("of several backends those that are missing get their share refused, and the others theirs served", async () => {
  const upstream = await startScripted((response) => response.end("served"));
  const [host, port] = upstream.host.split(":");
  const backend = "{group: gwc.dev, kind: GatewayBackend, name: one, weight: 1}";
  const rule = (value: string, ...backendRefs: readonly string[]) =>
    `{matches: [{path: {value: ${value}}}], backendRefs: [${backendRefs.join(", ")}]}`;
  const gateway = await startIsolated(
    [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${await freePort()}, protocol: HTTP}]}}`,
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: one}, spec: {static: {host: ${host}, port: ${port}}}}`,
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [${[
        rule("/half", backend, "{name: nothing, port: 80, weight: 1}"),
        rule("/none", backend, "{name: nothing, port: 80, weight: 0}"),
        rule("/alone", "{name: nothing, port: 80}"),
        rule("/both", "{name: nothing, port: 80}", "{name: neither, port: 80}"),
      ].join(", ")}]}}`,
    ].join("\n---\n"),
  );
  const ask = async (target: string) => (await send(`${gateway.url}${target}`, "GET")).status;
  const half = await Promise.all(Array.from({ length: 200 }, () => ask("/half")));
  expect(new Set(half)).toEqual(new Set([200, 500]));
  const served = half.filter((status) => status === 200).length;
  expect(served).toBeGreaterThan(50);
  expect(served).toBeLessThan(150);
  const all = await Promise.all(Array.from({ length: 20 }, () => ask("/none")));
  expect(new Set(all)).toEqual(new Set([200]));
  expect(await ask("/alone")).toBe(500);
  expect(await ask("/both")).toBe(500);
});

it("of several servers of a TCPRoute those that are missing get their share of the connections closed", async () => {
  const server = await startTcpServer((socket) => socket.end("served"));
  const [half, alone] = await freePorts(2);
  const route = (name: string, ...backendRefs: readonly string[]) =>
    `{apiVersion: gateway.networking.k8s.io/v1, kind: TCPRoute, metadata: {name: ${name}}, spec: {parentRefs: [{name: gw, sectionName: ${name}}], rules: [{backendRefs: [${backendRefs.join(", ")}]}]}}`;
  const gateway = await startIsolated(
    [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: half, port: ${half}, protocol: TCP}, {name: alone, port: ${alone}, protocol: TCP}]}}`,
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: one}, spec: {static: {host: 127.0.0.1, port: ${server.port}}}}`,
      route(
        "half",
        "{group: gwc.dev, kind: GatewayBackend, name: one}",
        "{name: nothing, port: 80}",
      ),
      route("alone", "{name: nothing, port: 80}"),
    ].join("\n---\n"),
  );
  const greeting = async (port = 0) => {
    const client = new RawClient(port);
    await client.ends();
    return client.received;
  };
  const some = await Promise.all(Array.from({ length: 200 }, () => greeting(half)));
  const served = some.filter((text) => text === "served").length;
  expect(served).toBeGreaterThan(50);
  expect(served).toBeLessThan(150);
  expect(new Set(some)).toEqual(new Set(["served", ""]));
  expect(await greeting(alone)).toBe("");
  await gateway.seen(/route=default\/half .*reason=NoHealthyBackend/);
  await gateway.seen(/route=default\/alone .*reason=NoHealthyBackend/);
});

it("of several pools those that are missing or broken get their share refused", async () => {
  const model = await startScripted((response) => response.end("served"));
  const [, port = ""] = model.host.split(":");
  const picker = await startEnvoyServices();
  const group = "inference.networking.k8s.io";
  const pool = (name: string, pickerName: string) =>
    `{apiVersion: ${group}/v1, kind: InferencePool, metadata: {name: ${name}}, spec: {selector: {matchLabels: {app: models}}, targetPorts: [{number: ${port}}], endpointPickerRef: {name: ${pickerName}, port: {number: 9002}}}}`;
  const rule = (value: string, ...names: readonly string[]) =>
    `{matches: [{path: {value: ${value}}}], backendRefs: [${names.map((name) => `{group: ${group}, kind: InferencePool, name: ${name}}`).join(", ")}]}`;
  const gateway = await startIsolated(
    [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${await freePort()}, protocol: HTTP}]}}`,
      `{apiVersion: v1, kind: Service, metadata: {name: pods}, spec: {clusterIP: None, selector: {app: models}, ports: [{port: 80}]}}`,
      `{apiVersion: v1, kind: Service, metadata: {name: picker}, spec: {ports: [{port: 9002}]}}`,
      `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: picker, labels: {kubernetes.io/service-name: picker}}, addressType: IPv4, ports: [{port: ${picker.port}}], endpoints: [{addresses: [127.0.0.1]}]}`,
      pool("good", "picker"),
      pool("broken", "nobody"),
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [${[
        rule("/good", "good"),
        rule("/missing", "missing", "good"),
        rule("/broken", "good", "broken"),
        rule("/none", "missing", "broken"),
      ].join(", ")}]}}`,
    ].join("\n---\n"),
    undefined,
    {
      NODE_OPTIONS: `--inspect-port=127.0.0.1:0 --import=${pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"))}`,
      GWC_TEST_NAMES: JSON.stringify({ "pods.default.svc.cluster.local": [["127.0.0.1"]] }),
    },
  );
  const raw_value = Buffer.from(`127.0.0.1:${port}`).toString("base64");
  const header = { key: "x-gateway-destination-endpoint", raw_value };
  const response = { header_mutation: { set_headers: [{ header }] } };
  const script = JSON.stringify({ request_headers: { request_headers: { response } } });
  const ask = async (path: string) =>
    (await send(`${gateway.url}${path}`, "POST", { "x-process": script }, "hello")).status;
  for (const [path, statuses] of [
    ["/good", [200]],
    ["/missing", [200, 500]],
    ["/broken", [200, 500]],
    ["/none", [500]],
  ] as const) {
    const found = await Promise.all(Array.from({ length: 40 }, () => ask(path)));
    expect([path, [...new Set(found)].toSorted()]).toEqual([path, statuses]);
  }
});

it("requests for the share of a missing MCP backend are refused", async () => {
  const tools =
    '{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]}';
  const [stable, canary, plain] = await Promise.all(
    [0, 1, 2].map(() => startUpstream(mcpResponses({ "tools/list": tools }))),
  );
  const place = (url = "") => `{host: 127.0.0.1, port: ${new URL(url).port}, path: /mcp}`;
  const backend = (name: string, url: string | undefined, policies = "") =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {mcp: {targets: [{name: ${name}, static: ${place(url)}}]}${policies}}}`;
  const rule = (value: string, other: string) =>
    `{matches: [{path: {value: ${value}}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: stable}, ${other}]}`;
  const mcp = (name: string) => `{group: gwc.dev, kind: GatewayBackend, name: ${name}}`;
  const rules = (text: string) =>
    `{mcp: {authorization: {policy: {matchExpressions: ['${text}']}}}}`;
  const gateway = await startIsolated(
    [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${await freePort()}, protocol: HTTP}]}}`,
      backend("stable", stable?.url),
      backend("broken", canary?.url, `, policies: ${rules('mcp.tool.nam == "a"')}`),
      backend("unruled", canary?.url),
      backend("differing", canary?.url, `, policies: ${rules('mcp.tool.name == "a"')}`).replace(
        "name: differing, static",
        "name: stable, static",
      ),
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: unruled}], backend: ${rules('mcp.tool.name == "a"').replace("policy", "rules")}}}`,
      `{apiVersion: v1, kind: Service, metadata: {name: plain}, spec: {ports: [{port: 80}]}}`,
      `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: plain, labels: {kubernetes.io/service-name: plain}}, addressType: IPv4, endpoints: [{addresses: [127.0.0.1]}], ports: [{port: ${new URL(plain?.url ?? "").port}}]}`,
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [${[
        rule("/broken", mcp("broken")),
        rule("/unruled", mcp("unruled")),
        rule("/missing", mcp("missing")),
        rule("/differing", mcp("differing")),
      ].join(", ")}]}}`,
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: ruled}, spec: {parentRefs: [{name: gw}], rules: [${rule("/ruled", "{name: plain, port: 80}")}]}}`,
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: q}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: ruled}], backend: ${rules('mcp.tool.name == "a"')}}}`,
    ].join("\n---\n"),
  );
  for (const path of ["/broken", "/unruled", "/missing", "/differing", "/ruled"]) {
    const statuses = new Set<number>();
    for (let sent = 0; sent < 40; sent++) {
      const opened = await post(`${gateway.url}${path}`, initialize);
      statuses.add(opened.status);
    }
    // One that is not there is its share; where a rule or a backend is wrong nobody is served.
    expect([path, statuses.has(500), statuses.has(200)]).toEqual([path, true, path === "/missing"]);
  }
  expect(canary?.seen).toEqual([]);
  expect(plain?.seen).toEqual([]);
});

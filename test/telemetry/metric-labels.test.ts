import { expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";

const labels = {
  team: 'request.headers["x-team"]',
  kind: 'response.code >= 400 ? "bad" : "good"',
};

function file(port: number, host: string, add: object, added?: object): object {
  return {
    ...(added && { config: { metrics: { fields: { add: added } } } }),
    frontendPolicies: { metrics: { add } },
    binds: [
      { port, listeners: [{ name: "main", routes: [{ name: "one", backends: [{ host }] }] }] },
    ],
  };
}

async function started(add: object, added?: object) {
  const echo = await startEcho();
  const port = await freePort();
  const gateway = await startGateway({ config: file(port, new URL(echo.url).host, add, added) });
  const stats = await gateway.statsPort();
  const lines = async () => {
    const { body } = await send(`http://127.0.0.1:${stats}/metrics`, "GET");
    return body.split("\n").filter((line) => line.startsWith("gwc_labelled_requests_total"));
  };
  return { url: `http://127.0.0.1:${port}/`, lines };
}

it("counts requests by the labels of the configuration", async () => {
  const { url, lines } = await started(labels);
  for (const team of ["blue", "blue", "red"]) await send(url, "GET", { "x-team": team });
  await send(url, "GET");
  const common = 'listener="main",route="one",status="200"';
  await expect
    .poll(lines)
    .toEqual([
      `gwc_labelled_requests_total{${common},team="blue",kind="good"} 2`,
      `gwc_labelled_requests_total{${common},team="red",kind="good"} 1`,
      `gwc_labelled_requests_total{${common},team="unknown",kind="good"} 1`,
    ]);
});

it("counts requests by the labels of `config` too, which others of the same name replace", async () => {
  const { url, lines } = await started(
    { kind: labels.kind },
    { team: labels.team, kind: '"none"' },
  );
  await send(url, "GET", { "x-team": "blue" });
  await expect
    .poll(lines)
    .toEqual([
      'gwc_labelled_requests_total{listener="main",route="one",status="200",team="blue",kind="good"} 1',
    ]);
});

it("counts further combinations of values together", async () => {
  const { url, lines } = await started({ team: labels.team });
  for (let at = 0; at < 1010; at += 50) {
    const some = Array.from({ length: Math.min(50, 1010 - at) }, (_, index) =>
      send(url, "GET", { "x-team": `team-${at + index}` }),
    );
    await Promise.all(some);
  }
  await expect.poll(async () => (await lines()).length).toBe(1001);
  const rest = (await lines()).find((line) => line.includes('team="other"'));
  expect(rest).toMatch(/ 10$/);
});

it("names and values of labels are checked", () => {
  const codes = (add: object) => {
    const text = JSON.stringify(file(3000, "127.0.0.1:9000", add));
    const host = memoryHost({ "gateway.yaml": text });
    const { diagnostics } = checkFiles(["gateway.yaml"], host, { name: "test", isStrict: false });
    return diagnostics.map(({ code }) => code);
  };
  expect(codes(labels)).toEqual([]);
  expect(codes({ route: "request.path" })).toEqual(["bad-format"]);
  expect(codes({ "a.b": "request.path" })).toEqual(["bad-format"]);
  expect(codes({ a: "request.pth" })).toEqual(["cel-unknown-field"]);
  expect(codes({ a: 'request.headers["authorization"]' })).toEqual(["log-credential"]);
});

it("a policy of a Gateway sets labels too", () => {
  const manifests = (expression: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: gwc, listeners: [{name: a, port: 8080, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: s, port: 80}]}]}
---
{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}
---
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayPolicy
metadata: {name: p}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
  frontend: {metrics: {attributes: {add: [{name: org, expression: '${expression}'}]}}}
`;
  const checked = checkManifests(manifests('request.headers["x-org-id"]'));
  expect(complaints(checked)).toEqual([]);
  expect(checked.program?.metricLabels?.labels.map(({ name }) => name)).toEqual(["org"]);
  expect(complaints(checkManifests(manifests("request.pth"))).join()).toContain("pth");
});

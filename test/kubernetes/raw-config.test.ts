import { expect, it } from "vitest";
import { parse } from "yaml";
import { kubernetesFiles } from "../../compiler/4-emit/emit.ts";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { ownClassManifest } from "./gateway-manifest.ts";
import { checkManifests, complaints } from "./manifests.ts";

interface Parts {
  readonly ofClass?: string;
  /** The Gateway's own parameters: lines of their `spec`. */
  readonly own?: string;
  readonly port?: number;
  readonly more?: string;
}

function manifests({ ofClass = "{}", own = "  {}", port = 8080, more = "" }: Parts): string {
  return `${ownClassManifest}
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: ours
  infrastructure: {parametersRef: {group: gwc.dev, kind: GatewayParameters, name: own}}
  listeners: [{name: http, port: ${port}, protocol: HTTP}]
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: of-class}, spec: ${ofClass}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: {name: own}
spec:
${own}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec:
  parentRefs: [{name: gw}]
  rules: [{filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: by, value: manifests}]}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: shop}]}]
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: shop}, spec: {static: {host: 127.0.0.1, port: 9}}}
${more}`;
}

it("serves the binds of a raw configuration next to the Gateway's listeners", async () => {
  const { url } = await startEcho();
  const [port, raw, ofClass] = [await freePort(), await freePort(), await freePort()];
  const own = `
  env: [{name: ROUTE_PREFIX, value: /tools}, {name: OTHER_KEY, valueFrom: {secretKeyRef: {name: k, key: k}}}]
  rawConfig:
    backends:
      - {name: tools, host: "${url}"}
    binds:
      - port: ${raw}
        listeners:
          - routes:
              - matches: [{path: {pathPrefix: "\${ROUTE_PREFIX}"}}]
                policies:
                  apiKey: {keys: [{key: "\${OTHER_KEY}"}]}
                  requestHeaderModifier: {set: {by: raw}}
                backends: [{backend: tools}]`;
  const direct = (body: string) =>
    `{rawConfig: {binds: [{port: ${ofClass}, listeners: [{routes: [{policies: {directResponse: {status: 200, body: ${body}}}}]}]}]}}`;
  const gateway = await startGateway({
    config: manifests({ own, port, ofClass: direct("class") }).replace(
      "static: {host: 127.0.0.1, port: 9}",
      `static: {host: 127.0.0.1, port: ${new URL(url).port}}`,
    ),
    env: { OTHER_KEY: "opens-it" },
  });
  await gateway.seen(new RegExp(`listening on [^:]+:${raw}`));
  const ask = async (at: number, path: string, key?: string) => {
    const headers: Record<string, string> =
      key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(`http://127.0.0.1:${at}${path}`, { headers });
    return response.ok
      ? ((await response.json()) as { headers: { by: string } }).headers.by
      : response.status;
  };
  expect(await ask(port, "/any")).toBe("manifests");
  expect(await ask(raw, "/tools/a", "opens-it")).toBe("raw");
  expect(await ask(raw, "/tools/a")).toBe(401);
  expect(await ask(raw, "/any", "opens-it")).toBe(404);
  // The Gateway's own binds take the place of its class's.
  await expect(fetch(`http://127.0.0.1:${ofClass}/`)).rejects.toThrow();
});

it("opens the ports of raw configurations on the Service of the Gateway", () => {
  const own =
    "  rawConfig: {mcp: {port: 9100, targets: [{name: a, mcp: {host: 'http://mcp.test/mcp'}}]}}";
  const checked = checkManifests(manifests({ own }));
  expect(complaints(checked)).toEqual([]);
  const { program } = checked;
  const files = program && kubernetesFiles(program, Buffer.from("bundle"), "digest", {});
  const service = parse(files?.find(({ path }) => path.endsWith("/service.yaml"))?.text ?? "");
  expect(service.spec.ports.map(({ port }: { port: number }) => port)).toEqual([8080, 9100]);
});

it("says where a typed field, a policy or a listener takes the place of the raw configuration", () => {
  const own = `  logging: {format: json, level: info}
  shutdown: {min: 1, max: 2}
  env: [{name: WORKER_THREADS, value: "2"}]
  rawConfig:
    config:
      logging: {format: text, level: debug}
      connectionTerminationDeadline: 9s
      workerThreads: 3
    frontendPolicies:
      http: {http1MaxHeaders: 7}
    binds:
      - port: 8080
        listeners: [{routes: [{backends: [{host: "mine.test:80"}]}]}]`;
  const more = `---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: p}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
  frontend: {http: {http1MaxHeaders: 8}}
`;
  const checked = checkManifests(manifests({ own, more }));
  expect(complaints(checked)).toEqual([
    '28 raw-config-overridden: "config.logging.format" of rawConfig has no effect: logging.format has precedence',
    '28 raw-config-overridden: "config.logging.level" of rawConfig has no effect: logging.level has precedence',
    '29 raw-config-overridden: "config.connectionTerminationDeadline" of rawConfig has no effect: shutdown has precedence',
    '30 raw-config-overridden: "config.workerThreads" of rawConfig has no effect: WORKER_THREADS of env has precedence',
    '32 raw-config-overridden: "frontendPolicies.http" of rawConfig has no effect: frontend.http of a policy has precedence',
    '34 raw-config-overridden: "port 8080" of rawConfig has no effect: listener "http" of the Gateway has precedence',
  ]);
  expect(checked.program?.binds.map(({ port, listeners }) => [port, listeners.length])).toEqual([
    [8080, 1],
  ]);
  expect(checked.program?.connections.maxHeaders).toBe(8);
});

it("tells every mistake of a raw configuration where it stands in the manifest, used or not", () => {
  const own = `  rawConfig:
    binds:
      - port: 9100
        listeners:
          - routes:
              - policies:
                  authorization: {rules: ["request.pth == ''"]}
                backends: [{backend: nobody}]
    llm: {models: [{name: m, provider: openAI, params: {apiKey: k, model: "\${UNKNOWN}"}}]}`;
  expect(complaints(checkManifests(manifests({ own })))).toEqual([
    '29 cel-unknown-field: "request" has no field "pth"',
    '30 missing-reference: there is no backend "nobody"',
    '31 unset-variable: the environment variable "UNKNOWN" is not set',
  ]);
  const elsewhere = `---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: unused}, spec: {rawConfig: {name: a, binds: [
  {port: 1, listeners: [{routes: [{policies: {authorization: {rules: ["request.pth == ''"]}, directResponse: {status: 200}}}]}]}]}}}`;
  expect(complaints(checkManifests(manifests({ more: elsewhere })))).toEqual([
    '34 unknown-field: rawConfig has no field "name"',
    '35 cel-unknown-field: "request" has no field "pth"',
  ]);
});

it("policies of a raw configuration hold for what it serves, and for nothing of the manifests", async () => {
  const [port, raw] = [await freePort(), await freePort()];
  const own = (target: string, name = "gw") => `  rawConfig:
    policies:
      - target: {gateway: {gatewayName: ${name}, gatewayNamespace: default}}
        policy: {authorization: {rules: [{deny: 'request.path == "/closed"'}]}}
      - target: {route: {name: ${target}}}
        policy: {requestHeaderModifier: {set: {by: policy}}}
    binds:
      - port: ${raw}
        listeners: [{routes: [{name: echo, backends: [{host: "ECHO"}]}]}]`;
  const { url } = await startEcho();
  const config = manifests({ own: own("echo"), port })
    .replace(
      "static: {host: 127.0.0.1, port: 9}",
      `static: {host: 127.0.0.1, port: ${new URL(url).port}}`,
    )
    .replace("ECHO", new URL(url).host);
  const gateway = await startGateway({ config });
  await gateway.seen(new RegExp(`listening on [^:]+:${raw}`));
  const ask = async (at: number, path: string) => {
    const response = await fetch(`http://127.0.0.1:${at}${path}`);
    return response.ok
      ? ((await response.json()) as { headers: { by: string } }).headers.by
      : response.status;
  };
  expect(await ask(raw, "/open")).toBe("policy");
  expect(await ask(raw, "/closed")).toBe(403);
  expect(await ask(port, "/closed")).toBe("manifests");
  expect(
    complaints(checkManifests(manifests({ own: own("nobody").replace("ECHO", "a.test:80") }))),
  ).toEqual(['27 missing-reference: there is no route "nobody"']);
  const other = own("echo", "other").replace("ECHO", "a.test:80");
  expect(complaints(checkManifests(manifests({ own: other })))).toEqual([
    `25 missing-reference: there is no gateway "other"`,
  ]);
  const nothing = "  rawConfig: {policies: [{target: {gateway: {}}, policy: {csrf: {}}}]}";
  expect(complaints(checkManifests(manifests({ own: nothing })))).toEqual([
    "23 missing-reference: there is no listener in this file",
  ]);
});

it("routes of a raw configuration answer nothing where one of its policies has a mistake", () => {
  const own = `  rawConfig:
    policies:
      - target: {gateway: {}}
        policy: {authorization: {rule: ['false']}}
    binds:
      - port: 9100
        listeners: [{routes: [{backends: [{host: "a.test:80"}]}]}]
    mcp: {targets: [{name: a, mcp: {host: "http://a.test/mcp"}}]}`;
  const checked = checkManifests(manifests({ own }));
  expect(complaints(checked)[0]).toContain('authorization has no field "rule"');
  expect(checked.program).toBeUndefined();
});

import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emitModules } from "../../compiler/4-emit/modules.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { root } from "../harness/root.ts";
import { checkManifests, complaints, world } from "./manifests.ts";

/** Everything that a build makes of documents, in files as given. */
function outputOf(files: Readonly<Record<string, string>>): readonly BundleOutput[] {
  const checked = checkManifests(files);
  const said = complaints(checked).map((line) => line.replace(/^\d+ /, ""));
  const { programs, files: sources, kubernetes } = checked;
  expect(programs, said.join("\n")).not.toEqual([]);
  return programs.map((program) => ({
    modules: emitModules(program, "path", sources),
    // The contents of files are recorded; which file contains them must not matter to the modules.
    inputs: program.inputs,
    mounts: [program.deployment?.secrets, program.deployment?.configMaps],
    said: said.toSorted(),
    status: kubernetes && statusOf(checked, kubernetes),
  }));
}

interface BundleOutput {
  readonly modules: unknown;
  readonly inputs: unknown;
  readonly mounts: unknown;
  readonly said: unknown;
  readonly status: unknown;
}

const policies = `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: second, namespace: agents}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: tools}]
  traffic:
    cors: {allowOrigins: ["https://other.example.com"]}
    authorization: {policy: {matchExpressions: ['request.path != "/x"']}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: first, namespace: agents}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}]
  traffic:
    authorization: {action: Deny, policy: {matchExpressions: ['request.path == "/y"']}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: again, namespace: agents}
spec:
  parentRefs: [{name: tools}]
  rules:
    - {matches: [{path: {value: /a}}], backendRefs: [{name: reports, port: 3002}]}
    - {matches: [{path: {value: /b}}], backendRefs: [{name: reports, port: 3002}]}
`;

const slice = (name: string, address: string): string =>
  `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: ${name}, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, endpoints: [{addresses: [${address}]}], ports: [{name: http, port: 80}]}`;
const tls = (name: string, hostname: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: BackendTLSPolicy, metadata: {name: ${name}}, spec: {targetRefs: [{group: "", kind: Service, name: web}], validation: {hostname: ${hostname}, caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]}}}`;
const listeners = (name: string, port: number): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: ${name}}, spec: {parentRef: {name: gw}, listeners: [{name: more, port: ${port}, protocol: HTTP, hostname: ${name}.example.com}]}}`;

/** Backends with several addresses, policies that fight, and two Gateways. */
const fights = [
  world,
  slice("b", "10.0.0.1"),
  slice("a", "10.0.0.2"),
  tls("z", "z.example.com"),
  tls("y", "y.example.com"),
  listeners("one", 8081),
  listeners("two", 8080),
  "{apiVersion: v1, kind: ConfigMap, metadata: {name: ca}}",
  "{apiVersion: v1, kind: Secret, metadata: {name: token}}",
  "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: tools}, spec: {static: {host: a, port: 1}, policies: {auth: {secretRef: {name: token}}}}}",
  '{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: x}, spec: {targetSelectors: [{group: "", kind: Service, matchLabels: {}}], backend: {tcp: {connectTimeout: 1s}, tls: {sni: x}}}}',
  "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: both}, spec: {parentRefs: [{name: gw}, {kind: ListenerSet, name: one}, {name: other}], rules: [{matches: [{path: {value: /both}}], backendRefs: [{name: web, port: 80}, {name: web, port: 80, weight: 3}]}]}}",
  "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: other}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: 9090, protocol: HTTP}]}}",
].join("\n---\n");

const example = (name: string): string =>
  readFileSync(path.join(root, "examples", name, "gateway.yaml"), "utf8");
const inputs = [
  { name: "cluster-basic", text: example("cluster-basic") },
  { name: "cluster-mcp", text: `${example("cluster-mcp")}\n---\n${policies}` },
  { name: "policies that fight", text: fights },
];

describe.each(inputs)("the documents of $name", ({ text }) => {
  const documents = text.split(/^---$/m);
  const expected = outputOf({ "all.yaml": documents.join("\n---\n") });

  it("mean the same in any order", () => {
    const anyOrder = fc.shuffledSubarray(documents, {
      minLength: documents.length,
      maxLength: documents.length,
    });
    fc.assert(
      fc.property(anyOrder, (shuffled) => {
        expect(outputOf({ "all.yaml": shuffled.join("\n---\n") })).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });

  it("mean the same as a list, as kubectl prints it", () => {
    const indented = documents.map((document) =>
      document.replace(/^#.*$/gm, "").trim().replace(/^/gm, "    ").replace(/^ {4}/, "  - "),
    );
    const list = `apiVersion: v1\nkind: List\nitems:\n${indented.join("\n")}\n`;
    const ofList = outputOf({ "all.yaml": list }).map(({ inputs: _, ...rest }) => rest);
    expect(ofList).toEqual(expected.map(({ inputs: _, ...rest }) => rest));
  });
});

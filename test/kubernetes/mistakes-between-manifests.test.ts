import { expect, it } from "vitest";
import { checkManifests, complaints, world } from "./manifests.ts";
import { backend, complaintsAbout, listener, route, target } from "./mistaken-manifests.ts";

it("a reference across namespaces needs a grant of that namespace, by kind and name", () => {
  const elsewhere =
    "{apiVersion: v1, kind: Service, metadata: {name: far, namespace: other}, spec: {ports: [{port: 80}]}}";
  const using = route(
    "r",
    "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{name: far, namespace: other, port: 80}]}]",
  );
  const grant = (to: string): string =>
    `{apiVersion: gateway.networking.k8s.io/v1beta1, kind: ReferenceGrant, metadata: {name: g, namespace: other}, spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: default}], to: [{group: "", ${to}}]}}`;
  const refused = [
    'reference-not-permitted: HTTPRoute "default/r" may not refer to Service "other/far": no ReferenceGrant allows it',
  ];
  expect(complaintsAbout(elsewhere, using)).toEqual(refused);
  expect(complaintsAbout(elsewhere, using, grant("kind: Secret"))).toEqual(refused);
  expect(complaintsAbout(elsewhere, using, grant("kind: Service, name: near"))).toEqual(refused);
  expect(complaintsAbout(elsewhere, using, grant("kind: Service, name: far"))).toEqual([]);
  expect(complaintsAbout(elsewhere, using, grant("kind: Service"))).toEqual([]);
});

it("each expression of a Require is checked at its place", () => {
  const text = `${world}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: tools}
spec: {static: {host: tools.example.com, port: 80}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: p}
spec:
  ${target("HTTPRoute", "web")}
  traffic:
    authorization:
      action: Require
      policy:
        matchExpressions:
          - request.method == "GET"
          - request.methodd == "PUT"
          - jwt.sub == "a"
`;
  const last = text.split("\n").length - 2;
  expect(complaints(checkManifests(text)).map((line) => line.replace(/:.*/, ""))).toEqual([
    `${last} cel-unknown-field`,
    `${last + 1} absent-identity`,
  ]);
});

it("what refers to a document with mistakes is not reported as well", () => {
  const wrong =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: wrong}, spec: {static: {host: a}}}";
  const using = route(
    "r",
    "parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /r}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: wrong}]}]",
  );
  expect(complaintsAbout(wrong, using)).toEqual(['missing-field: static needs the field "port"']);
});

it("a Gateway of another controller is left alone, and several of ours are several programs", () => {
  const foreign = [
    "{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: them}, spec: {controllerName: example.com/them}}",
    "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: theirs}, spec: {gatewayClassName: them, listeners: [{name: a, port: 1, protocol: HTTP}]}}",
  ];
  expect(complaintsAbout(...foreign)).toEqual([
    'foreign-gateway: Gateway "default/theirs" belongs to another controller, "example.com/them"',
  ]);
  expect(complaints(checkManifests(foreign.join("\n---\n")))).toContain(
    "1 no-gateway: these manifests contain no Gateway for gwc",
  );
  const second = listener("{name: a, port: 9090, protocol: HTTP}");
  const text = [world, backend, second].join("\n---\n");
  expect(checkManifests(text).programs.map(({ name }) => name)).toEqual(["gw", "tls"]);
  expect(checkManifests(text, { gateway: "default/tls" }).programs).toHaveLength(1);
  expect(complaints(checkManifests(text, { isSingle: true }))).toEqual([
    "1 several-gateways: there are 2 Gateways in these manifests",
  ]);
  expect(complaints(checkManifests(text, { gateway: "default/no" }))).toEqual([
    '1 no-gateway: there is no Gateway "default/no" in these manifests',
  ]);
});

it("TLS versions of a raw configuration that exclude all are reported at their place", () => {
  const text = `
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: {name: own}
spec:
  rawConfig:
    frontendPolicies:
      tls:
        minVersion: TLS_V1_3
        maxVersion: TLS_V1_2
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: gwc
  infrastructure: {parametersRef: {group: gwc.dev, kind: GatewayParameters, name: own}}
  listeners: [{name: a, port: 8443, protocol: HTTPS, tls: {certificateRefs: [{name: server}]}}]
---
{apiVersion: v1, kind: Secret, metadata: {name: server}, type: kubernetes.io/tls, stringData: {tls.crt: a, tls.key: b}}
`;
  expect(new Set(complaints(checkManifests(text)).map((line) => line.split(":")[0]))).toEqual(
    new Set(["9 tls-versions"]),
  );
});

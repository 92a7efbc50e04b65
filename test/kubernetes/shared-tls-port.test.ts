import { expect, it } from "vitest";
import { reachedRoute } from "../../compiler/inspect/explain/request.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { kubernetesResources } from "../../templates/kubernetes/resources.ts";
import { clientPorts } from "../../templates/modules/client-ports.ts";
import { checkManifests, complaints, gatewayWith, webRoute } from "./manifests.ts";

const routes = `${webRoute(443)}---
apiVersion: gateway.networking.k8s.io/v1
kind: TLSRoute
metadata: {name: db}
spec:
  parentRefs: [{name: gw, sectionName: db}]
  hostnames: [db.example.com]
  rules: [{backendRefs: [{name: web, port: 443}]}]
---
apiVersion: v1
kind: Secret
metadata: {name: cert}
type: kubernetes.io/tls
`;

const gateway = (db: string) =>
  gatewayWith(
    '{name: web, port: 8443, protocol: HTTPS, hostname: "*.example.com", tls: {certificateRefs: [{name: cert}]}}',
    `{name: db, port: 8443, protocol: TLS, hostname: db.example.com, ${db}}`,
  ) + routes;

function conditions(text: string): string {
  const checked = checkManifests(text);
  if (checked.kubernetes === undefined) throw new Error("no manifests");
  const found = statusOf(checked, checked.kubernetes).find(({ kind }) => kind === "Gateway");
  return JSON.stringify(found);
}

it("a Gateway may have HTTPS and TLS that is passed on at one port: both are programmed", () => {
  const text = gateway("tls: {mode: Passthrough}");
  const checked = checkManifests(text);
  expect(complaints(checked)).toEqual([]);
  const status = conditions(text);
  expect(status).not.toContain('Conflict"');
  expect(status.match(/"type":"Programmed","status":"True"/g)).toHaveLength(3);
  expect(status.match(/"attachedRoutes":1/g)).toHaveLength(2);
  const reached = (host: string) =>
    reachedRoute(checked, "GET", new URL(`https://${host}.example.com:8443/`));
  expect(reached("web")).toMatchObject({ kind: "route", route: { name: "default/web" } });
  expect(reached("db")).toEqual({
    kind: "none",
    reason:
      "port 8443 forwards connections to db.example.com without reading requests; connections to db.example.com go to the route default/db",
  });
});

it("the port is opened once, in the image, the Service and the pod", () => {
  const { program } = checkManifests(gateway("tls: {mode: Passthrough}"));
  if (program?.deployment === undefined) throw new Error("refused");
  expect(clientPorts(program)).toEqual([8443]);
  const made = kubernetesResources(program, program.deployment, {
    image: undefined,
    bundle: "",
    digest: "",
  });
  const text = JSON.stringify(made);
  expect(text.match(/"port":8443/g)).toHaveLength(1);
  expect(text.match(/"containerPort":8443/g)).toHaveLength(1);
});

it("HTTPS, terminated TLS and TLS that is passed on may share a port, and HTTP may not", () => {
  const three = (...others: readonly string[]) =>
    gatewayWith(
      '{name: web, port: 8443, protocol: HTTPS, hostname: "*.example.com", tls: {certificateRefs: [{name: cert}]}}',
      "{name: db, port: 8443, protocol: TLS, hostname: db.example.com, tls: {certificateRefs: [{name: cert}]}}",
      "{name: passed, port: 8443, protocol: TLS, hostname: passed.example.com, tls: {mode: Passthrough}}",
      ...others,
    ) + routes;
  const status = conditions(three());
  expect(status).not.toContain('Conflict"');
  expect(status.match(/"type":"Programmed","status":"True"/g)).toHaveLength(4);
  const checked = checkManifests(three());
  expect(reachedRoute(checked, "GET", new URL("https://db.example.com:8443/"))).toMatchObject({
    kind: "none",
    reason: expect.stringContaining("the route default/db"),
  });
  expect(conditions(three("{name: plain, port: 8443, protocol: HTTP, hostname: a.test}"))).toMatch(
    /"Conflicted","status":"True","lastTransitionTime":"[^"]*","reason":"ProtocolConflict"/,
  );
});

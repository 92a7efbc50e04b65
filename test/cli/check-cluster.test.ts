import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const layout = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: gwc
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: orders, namespace: team}
spec:
  parentRefs: [{name: gw, namespace: infra}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: orders}]}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: orders, namespace: team}
spec:
  static: {host: orders.example.com, port: 443}
  policies: {auth: {secretRef: {name: orders}}}
---
apiVersion: v1
kind: Secret
metadata: {name: orders, namespace: team}
data: {Authorization: ""}
`;

function folderWith(manifests: string): string {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, "manifests.yaml"), manifests);
  return folder;
}

it("a Secret of a route's namespace is copied for a bundle, and delivered by the controller", async () => {
  const cwd = folderWith(layout);
  const alone = await gwc(["check", "manifests.yaml"], { cwd });
  expect(alone.code).toBe(0);
  expect(alone.stdout).toContain("secret-elsewhere");
  expect(alone.stdout).toContain('copy it to "');
  expect((await gwc(["check", "--strict", "manifests.yaml"], { cwd })).code).toBe(1);
  const cluster = await gwc(["check", "--cluster", "manifests.yaml"], { cwd });
  expect([cluster.code, cluster.stdout]).toEqual([0, ""]);
  expect(cluster.stderr).toContain("valid, 1 route");
});

it("mistakes of other kinds are the same for the controller", async () => {
  const cwd = folderWith(layout.replace("kind: Secret", "kind: ConfigMap"));
  const { code, stdout } = await gwc(["check", "--cluster", "manifests.yaml"], { cwd });
  expect(code).toBe(1);
  expect(stdout).toContain("missing-secret");
});

it("gwc status says what a controller would: a Secret of another namespace is no mistake", async () => {
  const cwd = folderWith(layout);
  const { code, stdout } = await gwc(["status", "manifests.yaml"], { cwd });
  expect(code).toBe(0);
  expect(stdout).not.toContain("another namespace");
});

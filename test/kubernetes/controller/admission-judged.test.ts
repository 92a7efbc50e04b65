import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { resourceKind, splitApiVersion } from "../../../compiler/1-parse/kubernetes/kinds.ts";
import { judgementOf } from "../../../compiler/controller/admission/judgement.ts";
import { selfSigned } from "../../../compiler/controller/admission/self-signed.ts";
import type { TestObject } from "../../harness/kubernetes-api.ts";
import { root } from "../../harness/root.ts";

describe("an object by itself", () => {
  it("has no mistakes when all of the manifests that it is of have none", () => {
    const folders = ["cluster-basic", "cluster-mcp"];
    for (const folder of folders) {
      const text = readFileSync(path.join(root, "examples", folder, "gateway.yaml"), "utf8");
      for (const each of parseAllDocuments(text)) {
        const object = each.toJS() as TestObject;
        const kind = resourceKind(splitApiVersion(object.apiVersion).group, object.kind);
        if (kind === undefined) continue;
        const { mistakes, warnings } = judgementOf({ object, kind });
        expect([mistakes, warnings], `${object.kind} ${object.metadata.name}`).toEqual([[], []]);
      }
    }
  });

  it("has no mistakes for what it names and is not there, or says something else", () => {
    const objects = [
      `{kind: GatewayBackend, spec: {mcp: {toolLock: {name: lock}, targets: [{name: a, static: {host: a.example.com, port: 80}}]}}}`,
      `{kind: GatewayBackend, spec: {mcp: {targets: [{name: a, selector: {services: {matchLabels: {a: b}}}}]}}}`,
      `{kind: GatewayPolicy, spec: {targetRefs: [{group: "", kind: Service, name: a, sectionName: "80"}], backend: {tls: {caCertificateRefs: [{name: ca}]}}}}`,
      `{kind: GatewayPolicy, spec: {targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {a: b}}], traffic: {apiKeyAuthentication: {secretRef: {name: keys}}}}}`,
      `{kind: GatewayPolicy, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: a}], traffic: {authorization: {policy: {matchExpressions: ['jwt.sub == "me"']}}}}}`,
      `{kind: GatewayPolicy, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: a}], traffic: {basicAuthentication: {secretRef: {name: keys}}}}}`,
      `{kind: GatewayParameters, spec: {mesh: {}, rawConfig: {config: {logging: {level: info}}}}}`,
    ];
    for (const text of objects) {
      const own = parseAllDocuments(text)[0]?.toJS() as TestObject;
      const metadata = { name: "a", namespace: "default" };
      const object = { ...own, apiVersion: "gwc.dev/v1alpha1", metadata };
      const kind = resourceKind("gwc.dev", object.kind);
      expect(kind && judgementOf({ object, kind }).mistakes, text).toEqual([]);
    }
  });

  it("is asked about at a server whose certificate is for its name or its address", () => {
    const { cert } = selfSigned(["gwc.gwc-system.svc", "127.0.0.1", "fd00::1"], 1);
    const read = new X509Certificate(cert);
    expect(read.checkHost("gwc.gwc-system.svc")).toBe("gwc.gwc-system.svc");
    expect(read.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(read.checkIP("fd00::1")).toBe("fd00::1");
    expect(read.checkHost("other.gwc-system.svc")).toBeUndefined();
    expect(read.verify(read.publicKey)).toBe(true);
  });
});

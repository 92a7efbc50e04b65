import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { definitionsText } from "../../../compiler/commands/schema.ts";
import {
  chartFolder as chart,
  missingHelm,
  rendered,
  renderedText,
} from "../../harness/helm-chart.ts";
import type { TestObject } from "../../harness/kubernetes-api.ts";
import { root } from "../../harness/root.ts";
import { itUnless } from "../../harness/skip.ts";

const missing = missingHelm();
/** Helm adds this to all labels. */
const MANAGED = ',"app.kubernetes.io/managed-by":"Helm"';

/** Another value for each value of the chart, with the values that it requires. */
const OTHER_VALUES: Readonly<
  Record<string, { readonly other: unknown; readonly requires?: readonly string[] }>
> = {
  "controller.replicaCount": { other: 2 },
  "controller.leaseSeconds": { other: 20 },
  "controller.logLevel": { other: "warn" },
  "controller.image.registry": { other: "other.example.com" },
  "controller.image.repository": { other: "other" },
  "controller.image.tag": { other: "v9" },
  "controller.image.pullPolicy": { other: "Always" },
  "controller.extraEnv": { other: { A: "b" } },
  "controller.podDisruptionBudget": { other: { minAvailable: 1 } },
  "controller.strategy": { other: { type: "Recreate" } },
  "controller.service.type": { other: "NodePort" },
  "controller.service.ports.agwGrpc": { other: 1 },
  "controller.service.ports.health": { other: 2 },
  "controller.service.ports.metrics": { other: 3 },
  "controller.service.ports.webhook": { other: 4, requires: ["webhook.enabled=true"] },
  "controller.xds.tls.enabled": { other: true },
  "webhook.enabled": { other: true },
  "webhook.failurePolicy": { other: "Fail", requires: ["webhook.enabled=true"] },
  "image.registry": { other: "other.example.com" },
  "image.tag": { other: "v9" },
  "image.pullPolicy": { other: "Always" },
  "policies.configMap": { other: "our-policies" },
  imagePullSecrets: { other: [{ name: "pull" }] },
  affinity: { other: { podAntiAffinity: {} } },
  nodeSelector: { other: { disk: "ssd" } },
  tolerations: { other: [{ operator: "Exists" }] },
  podSecurityContext: { other: { runAsUser: 5 } },
  securityContext: { other: { runAsUser: 5 } },
  resources: { other: { limits: { memory: "1Gi" } } },
  deploymentAnnotations: { other: { a: "b" } },
  podAnnotations: { other: { a: "b" } },
  "serviceAccount.create": { other: false },
  "serviceAccount.name": { other: "other" },
  "serviceAccount.annotations": { other: { a: "b" } },
  nameOverride: { other: "other" },
  fullnameOverride: { other: "other" },
  discoveryNamespaceSelectors: { other: [{ matchLabels: { a: "b" } }] },
  gatewayClassParametersRefs: { other: { gwc: { name: "a", namespace: "b" } } },
  "inferenceExtension.enabled": { other: true },
};

/** Paths to what is no object of further values. */
function leavesOf(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[]];
  const entries = Object.entries(value);
  // Annotations are a value by themselves.
  if (entries.length === 0 || entries.some(([key]) => key.includes("/"))) return [[]];
  return entries.flatMap(([key, each]) => leavesOf(each).map((rest) => [key, ...rest]));
}

describe("the Helm chart", () => {
  it("is its source with the definitions of gwc's kinds (`npm run helm` writes it)", async () => {
    const source = path.join(root, "templates", "helm", "gwc");
    const files = (folder: string) => globSync("**/*.*", { cwd: folder }).sort();
    expect(files(chart).filter((file) => !file.startsWith("crds"))).toEqual(files(source));
    for (const file of files(source))
      expect(readFileSync(path.join(chart, file), "utf8"), file).toBe(
        readFileSync(path.join(source, file), "utf8"),
      );
    const definitions = readFileSync(path.join(chart, "crds", "gwc.dev.yaml"), "utf8");
    expect(definitions).toBe(await definitionsText());
  });

  it("is also there as manifests without the definitions, with images to be named", () => {
    const given = (text: string) => parseAllDocuments(text).map((each) => each.toJS());
    const manifests = given(readFileSync(path.join(root, "out", "helm", "gwc.yaml"), "utf8"));
    expect(manifests[0]).toEqual({
      ...{ apiVersion: "v1", kind: "Namespace", metadata: { name: "gwc-system" } },
    });
    const kinds = manifests.map((each) => each?.kind);
    expect(kinds).toContain("Deployment");
    expect(kinds).not.toContain("CustomResourceDefinition");
    const version: unknown = given(readFileSync(path.join(chart, "Chart.yaml"), "utf8"))[0].version;
    expect(JSON.stringify(manifests)).toContain(`"REGISTRY/controller:${version}"`);
    expect(JSON.stringify(manifests)).not.toContain("Helm");
  });

  itUnless(missing)("each value changes what is rendered", () => {
    const plain = renderedText();
    const values = parseAllDocuments(readFileSync(path.join(chart, "values.yaml"), "utf8"))[0];
    const named = leavesOf(values?.toJS()).map((each) => each.join("."));
    expect(Object.keys(OTHER_VALUES).sort()).toEqual(named.sort());
    for (const [value, { other, requires = [] }] of Object.entries(OTHER_VALUES)) {
      const without = requires.length === 0 ? plain : renderedText("--set", ...requires);
      const given = ["--set-json", `${value}=${JSON.stringify(other)}`];
      const set = requires.length === 0 ? [] : ["--set", ...requires];
      expect(renderedText(...set, ...given), value).not.toBe(without);
    }
  });

  itUnless(missing)("the manifests are what helm renders", () => {
    const manifests = readFileSync(path.join(root, "out", "helm", "gwc.yaml"), "utf8");
    const now = rendered("--set", "image.registry=REGISTRY");
    const written = parseAllDocuments(manifests).map((each) => each.toJS() as TestObject);
    const others = written.filter(({ kind }) => !/^(Namespace|CustomRes.*)$/.test(kind));
    // Which labels pods are chosen by is written with the others.
    expect(JSON.stringify(others)).toBe(JSON.stringify(now).replaceAll(MANAGED, ""));
    // With the webhook: what changes, and the configuration of it.
    const text = readFileSync(path.join(root, "out", "helm", "gwc-webhook.yaml"), "utf8");
    const changed = parseAllDocuments(text).map((each) => each.toJS() as TestObject);
    const named = ({ kind, metadata }: TestObject) => `${kind} ${metadata.name}`;
    const kept = now.filter((each) => !changed.some((other) => named(other) === named(each)));
    const whole = rendered("--set", "image.registry=REGISTRY", "--set", "webhook.enabled=true");
    const ordered = (all: readonly TestObject[]) =>
      all.map((each) => JSON.stringify(each).replaceAll(MANAGED, "")).sort();
    expect(ordered([...kept, ...changed])).toEqual(ordered(whole));
  });
});

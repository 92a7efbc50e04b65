import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { definitionsText } from "../../../compiler/commands/schema.ts";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePort } from "../../harness/free-port.ts";
import { KubernetesApi, missingApiServer, type TestObject } from "../../harness/kubernetes-api.ts";
import { root } from "../../harness/root.ts";

const home = process.env.GWC_KUBE_HOME ?? path.join(homedir(), ".cache", "gwc-kube");
const helm = path.join(home, "bin", "helm");
const chart = path.join(root, "out", "helm", "gwc");
const missing = existsSync(helm) ? missingApiServer() : `${helm} is not there`;
const ofHelm = existsSync(helm) ? "" : ` (left out: ${helm} is not there)`;
/** Helm says so wherever labels are. */
const MANAGED = ',"app.kubernetes.io/managed-by":"Helm"';
const note = missing === undefined ? "" : ` (left out: ${missing})`;

/** For each value of the chart another one, and what has to be set beside it. */
const OTHER_VALUES: Readonly<
  Record<string, { readonly other: unknown; readonly beside?: readonly string[] }>
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
  "controller.service.ports.webhook": { other: 4, beside: ["webhook.enabled=true"] },
  "controller.xds.tls.enabled": { other: true },
  "webhook.enabled": { other: true },
  "webhook.failurePolicy": { other: "Fail", beside: ["webhook.enabled=true"] },
  "image.registry": { other: "other.example.com" },
  "image.tag": { other: "v9" },
  "image.pullPolicy": { other: "Always" },
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

function rendered(...options: string[]): readonly TestObject[] {
  return parseAllDocuments(renderedText(...options)).map((each) => each.toJS() as TestObject);
}

function renderedText(...options: string[]): string {
  const place = ["--namespace", "gwc-system", "--kube-version", "1.35"];
  const argv = ["template", "gwc", chart, ...place, ...options];
  return execFileSync(helm, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
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

  it("is also there as manifests, which have the same definitions and images to be named", async () => {
    const given = (text: string) => parseAllDocuments(text).map((each) => each.toJS());
    const manifests = given(readFileSync(path.join(root, "out", "helm", "gwc.yaml"), "utf8"));
    expect(manifests[0]).toEqual({
      ...{ apiVersion: "v1", kind: "Namespace", metadata: { name: "gwc-system" } },
    });
    expect(manifests).toEqual(expect.arrayContaining(given(await definitionsText())));
    const version: unknown = given(readFileSync(path.join(chart, "Chart.yaml"), "utf8"))[0].version;
    expect(JSON.stringify(manifests)).toContain(`"REGISTRY/controller:${version}"`);
    expect(JSON.stringify(manifests)).not.toContain("Helm");
  });

  it.runIf(existsSync(helm))(`each value changes what is rendered${ofHelm}`, () => {
    const plain = renderedText();
    const values = parseAllDocuments(readFileSync(path.join(chart, "values.yaml"), "utf8"))[0];
    const named = leavesOf(values?.toJS()).map((each) => each.join("."));
    expect(Object.keys(OTHER_VALUES).sort()).toEqual(named.sort());
    for (const [value, { other, beside = [] }] of Object.entries(OTHER_VALUES)) {
      const without = beside.length === 0 ? plain : renderedText("--set", ...beside);
      const given = ["--set-json", `${value}=${JSON.stringify(other)}`];
      const set = beside.length === 0 ? [] : ["--set", ...beside];
      expect(renderedText(...set, ...given), value).not.toBe(without);
    }
  });

  it.runIf(existsSync(helm))(`the manifests are what helm renders${ofHelm}`, () => {
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

describe.runIf(missing === undefined)(`the Helm chart on an API server${note}`, () => {
  let api: KubernetesApi;

  beforeAll(async () => {
    api = await KubernetesApi.start();
    await api.applyText("apiVersion: v1\nkind: Namespace\nmetadata: { name: gwc-system }\n");
  }, 180_000);

  it("helm finds nothing wrong with it", () => {
    expect(() => execFileSync(helm, ["lint", "--strict", chart], { stdio: "pipe" })).not.toThrow();
  });

  it("a value that is none is refused", () => {
    expect(() => rendered("--set", "controller.replicas=2")).toThrow(/replicas/);
    expect(() => rendered("--set", "webhook.failurePolicy=Never")).toThrow(/failurePolicy/);
  });

  it("the API server takes all of it, with every value set", async () => {
    const objects = rendered(
      ...["--set", "controller.xds.tls.enabled=true,inferenceExtension.enabled=true"],
      ...["--set", "webhook.enabled=true,webhook.failurePolicy=Fail"],
      ...["--set", "controller.podDisruptionBudget.minAvailable=1,controller.extraEnv.A=b"],
      ...[
        "--set",
        "gatewayClassParametersRefs.gwc.name=a,gatewayClassParametersRefs.gwc.namespace=b",
      ],
      ...["--set-json", 'discoveryNamespaceSelectors=[{"matchLabels":{"team":"a"}}]'],
    );
    expect(objects.map(({ kind }) => kind)).toContain("PodDisruptionBudget");
    // Nobody answers at it here.
    const isAsked = ({ kind }: TestObject) => kind === "ValidatingWebhookConfiguration";
    await api.apply(...objects.filter((each) => !isAsked(each)));
    for (const each of objects.filter(isAsked)) {
      await api.apply(each);
      await api.delete(each);
    }
  });

  it("its roles are enough to compile, to write statuses and to run a Gateway", async () => {
    await api.apply(...rendered());
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front }
spec:
  gatewayClassName: gwc
  listeners: [{ name: http, port: ${await freePort()}, protocol: HTTP }]
`);
    const token = "/api/v1/namespaces/gwc-system/serviceaccounts/gwc/token";
    const said = await api.ask("POST", token, { spec: {} });
    const controller = startController(
      { kubeconfig: api.kubeconfigOf(said.body.status.token, "gwc-system") },
      ...["--image", "example.com/gateway:1"],
    );
    await controller.seen(/leading/);
    const gateway = await eventually(async () => {
      const found = await api.get("gateway.networking.k8s.io/v1", "Gateway", "default", "front");
      return found.status?.listeners?.length === 1 ? found : null;
    }, "the status of the Gateway");
    expect(gateway.status.conditions).toContainEqual(
      expect.objectContaining({ type: "Accepted", status: "True" }),
    );
    await eventually(
      async () => (await api.get("apps/v1", "Deployment", "default", "front")) ?? null,
      "the Deployment",
    );
    expect(controller.output).not.toMatch(/403|refused/);
  });
});

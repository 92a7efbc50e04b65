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

function rendered(...options: string[]): readonly TestObject[] {
  const place = ["--namespace", "gwc-system", "--kube-version", "1.35"];
  const argv = ["template", "gwc", chart, ...place, ...options];
  const text = execFileSync(helm, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  return parseAllDocuments(text).map((each) => each.toJS() as TestObject);
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

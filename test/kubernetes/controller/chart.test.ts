import { beforeAll, expect, it } from "vitest";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePort } from "../../harness/free-port.ts";
import { chartFolder, missingHelm, rendered, runHelm } from "../../harness/helm-chart.ts";
import { KubernetesApi, missingApiServer, type TestObject } from "../../harness/kubernetes-api.ts";
import { describeUnless } from "../../harness/skip.ts";

const missing = missingHelm() ?? missingApiServer();

describeUnless(missing)("the Helm chart on an API server", () => {
  let api: KubernetesApi;

  beforeAll(async () => {
    api = await KubernetesApi.start();
    await api.applyText("apiVersion: v1\nkind: Namespace\nmetadata: { name: gwc-system }\n");
  }, 180_000);

  it("helm finds nothing wrong with it", () => {
    expect(() => runHelm("lint", "--strict", chartFolder)).not.toThrow();
  });

  it("an invalid value is refused", () => {
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
    await controller.stop();
  });
});

import { beforeAll, describe, expect, it } from "vitest";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePort, freePorts } from "../../harness/free-port.ts";
import { GwcProcess } from "../../harness/gwc.ts";
import { KubernetesApi, missingApiServer } from "../../harness/kubernetes-api.ts";
import { send } from "../../harness/send.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { Workspace } from "../../harness/workspace.ts";

const missing = missingApiServer();
const note = missing === undefined ? "" : ` (left out: ${missing})`;

describe.runIf(missing === undefined)(`gwc controller runs Gateways${note}`, () => {
  let api: KubernetesApi;
  let port: number;

  beforeAll(async () => {
    api = await KubernetesApi.start();
    const [listener, stats, ready, xdsPort] = await freePorts(4);
    port = listener ?? 0;
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gwc }
spec: { controllerName: gwc.dev/gateway }
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: own }
spec:
  rawConfig:
    config: { statsAddr: "127.0.0.1:${stats}", readinessAddr: "127.0.0.1:${ready}" }
  podDisruptionBudget: { spec: { minAvailable: 1 } }
  deployment: { metadata: { labels: { app.kubernetes.io/managed-by: other }, annotations: { own: kept } } }
`);
    await api.applyText(gateway("front", port));
    const controller = startController(
      api,
      ...["--image", "example.com/gwc:1", "--image-pull-policy", "Never"],
      ...["--xds-port", String(xdsPort)],
      ...["--xds-address", `http://127.0.0.1:${xdsPort}`],
    );
    await controller.seen(/leading/);
  }, 180_000);

  function gateway(name: string, listenerPort: number): string {
    return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name} }
spec:
  gatewayClassName: gwc
  infrastructure:
    labels: { app.kubernetes.io/name: other, team: a }
    parametersRef: { group: gwc.dev, kind: GatewayParameters, name: own }
  listeners: [{ name: http, port: ${listenerPort}, protocol: HTTP }]
`;
  }

  /** A process with the command and variables of the Gateway's pod, once it serves. */
  async function startPod(): Promise<void> {
    const { spec } = await there("apps/v1", "Deployment", "front");
    const [container] = spec.template.spec.containers;
    expect(container.imagePullPolicy).toBe("Never");
    const variables: { name: string; value?: string }[] = container.env;
    const given = variables.flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, value]],
    );
    const url = "/api/v1/namespaces/default/serviceaccounts/front/token";
    const { audience } = spec.template.spec.volumes.find(
      (each: { name: string }) => each.name === "xds-token",
    ).projected.sources[0].serviceAccountToken;
    const said = await api.ask("POST", url, { spec: { audiences: [audience] } });
    const workspace = new Workspace({ token: said.body.status.token });
    const agent = new GwcProcess(container.args, {
      env: {
        ...Object.fromEntries(given),
        // What the kubelet does: fields of the pod, and its volumes.
        NAMESPACE: "default",
        GWC_AGENT_DIR: temporaryFolder(),
        XDS_TOKEN_FILE: workspace.path("token"),
      },
    });
    await agent.seen(/serving generation/);
  }

  /** An object, once it is there and as wanted. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes, which each test knows.
  function there(apiVersion: string, kind: string, name: string, is = (_: any) => true) {
    return eventually(async () => {
      const found = await api.get(apiVersion, kind, "default", name);
      return found !== undefined && is(found) ? found : null;
    }, `${kind} ${name}`);
  }

  it("a Gateway gets a Deployment, a Service, an account and a budget, which are its own", async () => {
    const { metadata } = await there("gateway.networking.k8s.io/v1", "Gateway", "front");
    for (const [version, kind] of [
      ["apps/v1", "Deployment"],
      ["v1", "Service"],
      ["v1", "ServiceAccount"],
      ["policy/v1", "PodDisruptionBudget"],
    ] as const) {
      const found = await there(version, kind, "front");
      expect(found.metadata.ownerReferences).toEqual([
        expect.objectContaining({ kind: "Gateway", name: "front", uid: metadata.uid }),
      ]);
    }
  });

  it("the Gateway says where its load balancer is", async () => {
    await there("v1", "Service", "front");
    const url = "/api/v1/namespaces/default/services/front/status";
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } };
    await api.ask("PATCH", url, { status }, "application/merge-patch+json");
    const found = await there(
      "gateway.networking.k8s.io/v1",
      "Gateway",
      "front",
      ({ status }) => status.addresses?.length === 1,
    );
    expect(found.status.addresses[0].value).toBe("192.0.2.7");
  });

  it("a process with the command and variables of the pod serves the Gateway", async () => {
    await startPod();
    expect((await send(`http://127.0.0.1:${port}/`, "GET")).status).toBe(404);
    await there("gateway.networking.k8s.io/v1", "Gateway", "front", ({ status }) =>
      status.conditions.some(
        (each: { type: string; status: string }) =>
          each.type === "Programmed" && each.status === "True",
      ),
    );
  });

  it("a Gateway that asks for an address is programmed once its Service has it", async () => {
    const programmed = (reason: string) =>
      there("gateway.networking.k8s.io/v1", "Gateway", "front", ({ status }) =>
        status.conditions.some(
          (each: { type: string; reason: string }) =>
            each.type === "Programmed" && each.reason === reason,
        ),
      );
    await startPod();
    await programmed("Programmed");
    const merge = "application/merge-patch+json";
    const own = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/front";
    await api.ask("PATCH", own, { spec: { addresses: [{ value: "192.0.2.8" }] } }, merge);
    await there("v1", "Service", "front", ({ spec }) => spec.loadBalancerIP === "192.0.2.8");
    const waiting = await programmed("AddressNotAssigned");
    expect(waiting.status.addresses).toEqual([{ type: "IPAddress", value: "192.0.2.7" }]);
    const service = "/api/v1/namespaces/default/services/front/status";
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.8" }] } };
    await api.ask("PATCH", service, { status }, merge);
    await programmed("Programmed");
  });

  it("what somebody changes of it is put right, and what is gone comes back", async () => {
    const before = await there("v1", "Service", "front");
    const key = await there("v1", "Secret", "front-session-key");
    await api.delete(key);
    const url = "/api/v1/namespaces/default/services/front";
    const spec = { selector: { app: "other", "app.kubernetes.io/name": "other" } };
    await api.ask("PATCH", url, { spec }, "application/merge-patch+json");
    await there(
      "v1",
      "Service",
      "front",
      (found) => found.spec.selector["app.kubernetes.io/name"] === "front",
    );
    await api.ask("DELETE", url);
    await there("v1", "Service", "front", ({ metadata }) => metadata.uid !== before.metadata.uid);
    const isOther = ({ metadata }: { metadata: { uid: string } }) =>
      metadata.uid !== key.metadata.uid;
    await there("v1", "Secret", "front-session-key", isOther);
  });

  it("labels and annotations are put right, too, and those by which its objects are found are nobody's to choose", async () => {
    const own = { "app.kubernetes.io/managed-by": "gwc", "app.kubernetes.io/name": "front" };
    const asked = { ...own, team: "a" };
    const isRight = ({ metadata }: { metadata: Record<string, Record<string, string>> }) =>
      metadata.annotations?.own === "kept" &&
      Object.entries(asked).every(([name, value]) => metadata.labels?.[name] === value);
    const { spec } = await there("apps/v1", "Deployment", "front", isRight);
    expect(spec.template.metadata.labels).toMatchObject({
      ...spec.selector.matchLabels,
      team: "a",
    });
    const url = "/apis/apps/v1/namespaces/default/deployments/front";
    const merge = "application/merge-patch+json";
    for (const labels of [{ team: "b" }, { "app.kubernetes.io/managed-by": null }]) {
      const metadata = { labels, annotations: { own: "changed" } };
      const { body } = await api.ask("PATCH", url, { metadata }, merge);
      expect(isRight(body)).toBe(false);
      await there("apps/v1", "Deployment", "front", isRight);
    }
  });

  it("a budget that is no longer asked for is removed", async () => {
    await there("policy/v1", "PodDisruptionBudget", "front");
    await api.ask(
      "PATCH",
      "/apis/gwc.dev/v1alpha1/namespaces/default/gatewayparameters/own",
      { spec: { podDisruptionBudget: null } },
      "application/merge-patch+json",
    );
    await eventually(async () => {
      const found = await api.get("policy/v1", "PodDisruptionBudget", "default", "front");
      return found === undefined || null;
    }, "the end of the budget");
  });

  it("an object of somebody else is left alone, and the Gateway says so", async () => {
    const taken = { apiVersion: "v1", kind: "Service", metadata: { name: "taken" } };
    await api.apply({ ...taken, spec: { ports: [{ port: 1234 }] } });
    await api.applyText(gateway("taken", await freePort()));
    const found = await there("gateway.networking.k8s.io/v1", "Gateway", "taken", ({ status }) =>
      status.conditions.some((each: { message: string }) => /somebody else/.test(each.message)),
    );
    expect(found.status.conditions).toContainEqual(
      expect.objectContaining({ type: "Programmed", status: "False" }),
    );
    const service = await api.get("v1", "Service", "default", "taken");
    expect(service.spec.ports[0].port).toBe(1234);
  });
});

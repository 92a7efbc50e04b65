import { beforeAll, expect, it } from "vitest";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePort, freePorts } from "../../harness/free-port.ts";
import { gatewayClass } from "../../harness/gateway-class.ts";
import { GwcProcess } from "../../harness/gwc.ts";
import { KubernetesApi, missingApiServer } from "../../harness/kubernetes-api.ts";
import { send } from "../../harness/send.ts";
import { describeUnless } from "../../harness/skip.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { Workspace } from "../../harness/workspace.ts";

const missing = missingApiServer();

describeUnless(missing)("gwc controller runs Gateways", () => {
  let api: KubernetesApi;
  let port: number;

  beforeAll(async () => {
    api = await KubernetesApi.start();
    const [listener, stats, ready, xdsPort] = await freePorts(4);
    port = listener ?? 0;
    await api.applyText(`${gatewayClass}---
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

  function gateway(name: string, listenerPort: number, className = "gwc"): string {
    return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name} }
spec:
  gatewayClassName: ${className}
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
        // The kubelet's part: fields of the pod, and its volumes.
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

  function isGone(kind: keyof typeof VERSIONS, name: string): Promise<unknown> {
    return eventually(async () => {
      const found = await api.get(VERSIONS[kind], kind, "default", name);
      return found === undefined || null;
    }, `the end of ${kind} ${name}`);
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
    const waiting = await programmed("AddressNotUsable");
    expect(waiting.status.addresses).toEqual([{ type: "IPAddress", value: "192.0.2.7" }]);
    const service = "/api/v1/namespaces/default/services/front/status";
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.8" }] } };
    await api.ask("PATCH", service, { status }, merge);
    await programmed("Programmed");
    // Of several addresses the status names those that the load balancer does not have.
    const several = [{ value: "192.0.2.8" }, { value: "192.0.2.9" }];
    await api.ask("PATCH", own, { spec: { addresses: several } }, merge);
    await there(
      "v1",
      "Service",
      "front",
      ({ metadata }) =>
        metadata.annotations?.["metallb.io/loadBalancerIPs"] === "192.0.2.8,192.0.2.9",
    );
    const lacking = await programmed("AddressNotUsable");
    const [problem] = lacking.status.conditions.flatMap(
      (each: { reason: string; message: string }) =>
        each.reason === "AddressNotUsable" ? [each.message] : [],
    );
    expect(problem).toContain("does not have the address 192.0.2.9:");
    expect(lacking.status.addresses).toEqual([{ type: "IPAddress", value: "192.0.2.8" }]);
    await api.ask("PATCH", own, { spec: { addresses: null } }, merge);
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

  it("labels and annotations are restored, too", async () => {
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
    await isGone("PodDisruptionBudget", "front");
  });

  it("an object of another owner is left alone, and the Gateway reports it", async () => {
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

  it("an overlay with an invalid result is reported by the Gateway", async () => {
    const name = "overlaid";
    const parameters = (spec: string, namespace = "default") => `
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: ${name}, namespace: ${namespace} }
spec: { deployment: { spec: ${spec} } }
`;
    const manifest = gateway(name, await freePort()).replace("name: own", `name: ${name}`);
    await api.applyText("apiVersion: v1\nkind: Namespace\nmetadata: { name: elsewhere }");
    // Parameters of another namespace do not apply to this one.
    await api.applyText(parameters("{ replicas: many }", "elsewhere"));
    await api.applyText(`${parameters("{ replicas: many }")}---${manifest}`);
    const says = (text: string) =>
      there("gateway.networking.k8s.io/v1", "Gateway", name, ({ status }) =>
        status.conditions.some(({ message }: { message: string }) => message.includes(text)),
      );
    await says('"replicas" must be a whole number, not a string');
    expect(await api.get("apps/v1", "Deployment", "default", name)).toBeUndefined();
    await api.applyText(parameters("{ replica: 2 }"));
    await says(".spec.replica: field not declared in schema");
    await api.applyText(parameters("{ replicas: 2 }"));
    await there("apps/v1", "Deployment", name, ({ spec }) => spec.replicas === 2);
    await says("no data plane of this Gateway is connected");
  });

  it("what the parameters of a class say holds as they change, and while the class names them", async () => {
    const name = "classed";
    const classUrl = "/apis/gateway.networking.k8s.io/v1/gatewayclasses/classed";
    await api.applyText(`
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: of-class }
spec: { deployment: { spec: { replicas: 3 } } }
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: classed }
spec: { controllerName: gwc.dev/gateway }
---${gateway(name, await freePort(), name)}`);
    const replicas = (count: number) =>
      there("apps/v1", "Deployment", name, ({ spec }) => spec.replicas === count);
    await replicas(1);
    const parametersRef = {
      ...{ group: "gwc.dev", kind: "GatewayParameters", name: "of-class", namespace: "default" },
    };
    const merge = "application/merge-patch+json";
    await api.ask("PATCH", classUrl, { spec: { parametersRef } }, merge);
    await replicas(3);
    const url = "/apis/gwc.dev/v1alpha1/namespaces/default/gatewayparameters/of-class";
    await api.ask("PATCH", url, { spec: { deployment: { spec: { replicas: 2 } } } }, merge);
    await replicas(2);
    await api.ask("PATCH", classUrl, { spec: { parametersRef: null } }, merge);
    await replicas(1);
  });

  it("a Gateway that moves to another controller's class is let go, and taken up when it is back", async () => {
    const name = "moving";
    const [version, url] = ["gateway.networking.k8s.io/v1", gatewayUrl(name)];
    await api.applyText(`
apiVersion: ${version}
kind: GatewayClass
metadata: { name: other }
spec: { controllerName: example.com/other }
---${gateway(name, await freePort())}`);
    const running = ["Deployment", "ServiceAccount"] as const;
    for (const kind of running) await there(VERSIONS[kind], kind, name);
    const { metadata } = await there("v1", "Service", name);
    const spec = (gatewayClassName: string) => ({ spec: { gatewayClassName } });
    // The other controller applies one that has the same name, as a part of the Gateway.
    const { ownerReferences } = metadata;
    const theirs = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, ownerReferences, labels: { "app.kubernetes.io/managed-by": "other" } },
      spec: { selector: { app: "other" }, ports: [{ port: 1234, name: "theirs" }] },
    };
    const applied = `${api.url(theirs)}?fieldManager=other&force=true`;
    await api.ask("PATCH", url, spec("other"), "application/merge-patch+json");
    await api.ask("PATCH", applied, theirs, "application/apply-patch+yaml");
    for (const kind of running) await isGone(kind, name);
    const left = await there(version, "Gateway", name, ({ status }) =>
      status.conditions.every(({ status: each }: { status: string }) => each === "Unknown"),
    );
    expect(left.status.listeners ?? []).toEqual([]);
    const service = await there("v1", "Service", name);
    expect(service.spec).toMatchObject({ selector: { app: "other" }, ports: [{ name: "theirs" }] });
    await api.ask("PATCH", url, spec("gwc"), "application/merge-patch+json");
    await there("apps/v1", "Deployment", name);
    await there(version, "Gateway", name, ({ status }) =>
      status.conditions.some(({ message }: { message: string }) =>
        /Service moving is there, and belongs to somebody else/.test(message),
      ),
    );
    expect((await there("v1", "Service", name)).spec.ports[0].port).toBe(1234);
    await api.delete(theirs);
    await there("v1", "Service", name, ({ spec: { ports } }) => ports[0].port !== 1234);
  });

  it("what the controller of its class says of a Gateway stays, and one without a class keeps what it runs with", async () => {
    const [version, claimed, orphaned] = ["gateway.networking.k8s.io/v1", "claimed", "orphaned"];
    await api.applyText(`
apiVersion: ${version}
kind: GatewayClass
metadata: { name: passing }
spec: { controllerName: gwc.dev/gateway }
---${gateway(claimed, await freePort())}---${gateway(orphaned, await freePort(), "passing")}`);
    for (const name of [claimed, orphaned]) await there("apps/v1", "Deployment", name);
    await api.delete({ apiVersion: version, kind: "GatewayClass", metadata: { name: "passing" } });
    const merge = "application/merge-patch+json";
    await api.ask("PATCH", gatewayUrl(claimed), { spec: { gatewayClassName: "other" } }, merge);
    const lastTransitionTime = new Date().toISOString();
    const theirs = { status: "True", reason: "Theirs", message: "", lastTransitionTime };
    const conditions = ["Accepted", "Programmed"].map((type) => ({ type, ...theirs }));
    await api.ask("PATCH", `${gatewayUrl(claimed)}/status`, { status: { conditions } }, merge);
    await isGone("Deployment", claimed);
    await there(
      version,
      "Gateway",
      orphaned,
      ({ status }) => status.conditions[0].reason === "Pending",
    );
    await there("apps/v1", "Deployment", orphaned);
    await there(
      version,
      "Gateway",
      claimed,
      ({ status }) => status.conditions[0].reason === "Theirs",
    );
  });
});

const VERSIONS = {
  Deployment: "apps/v1",
  ServiceAccount: "v1",
  PodDisruptionBudget: "policy/v1",
} as const;

function gatewayUrl(name: string): string {
  return `/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/${name}`;
}

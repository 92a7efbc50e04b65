import { beforeAll, expect, it } from "vitest";
import { customResourceDefinitions } from "../../../compiler/1-parse/kubernetes/crd.ts";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import type { GwcProcess } from "../../harness/gwc.ts";
import { KubernetesApi, missingApiServer, type TestObject } from "../../harness/kubernetes-api.ts";
import { describeUnless } from "../../harness/skip.ts";

const OLDER = "v1.3.0";
const missing = missingApiServer([], [OLDER]);

const definition = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
const gatewayApi = "gateway.networking.k8s.io";

interface TestCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

describeUnless(missing)("definitions of older versions", () => {
  let api: KubernetesApi;
  let controller: GwcProcess;

  beforeAll(async () => {
    api = await KubernetesApi.start("objects", OLDER);
    await api.installGatewayApi("experimental", OLDER);
    const name = "gatewaybackends.gwc.dev";
    await api.delete({ ...definition, metadata: { name } });
    await api.apply(...olderOwn());
    await api.applyText(OBJECTS);
    controller = startController(api);
    await controller.seen(/leading/);
  }, 180_000);

  /** Waits until an object has a condition, wherever in its status. */
  function condition(
    [apiVersion, kind, name]: readonly [string, string, string],
    type: string,
    wanted: string,
    message?: string,
  ): Promise<TestCondition> {
    let last: unknown;
    return eventually(
      async () => {
        const status = (await api.get(apiVersion, kind, "default", name))?.status ?? {};
        last = status;
        const entries = [status, ...(status.parents ?? []), ...(status.ancestors ?? [])];
        const all: TestCondition[] = entries.flatMap((each) => each.conditions ?? []);
        const found = all.find((each) => each.type === type && each.status === wanted);
        return message === undefined || found?.message === message ? (found ?? null) : null;
      },
      () => `${type} ${wanted} of ${kind} ${name}, which says ${JSON.stringify(last)}`,
    );
  }

  const tlsPolicy = (version: string) =>
    [`${gatewayApi}/${version}`, "BackendTLSPolicy", "echo"] as const;

  it("what there is of the Gateway API is served, whatever its versions and names", async () => {
    await condition([`${gatewayApi}/v1`, "HTTPRoute", "one"], "Accepted", "True");
    await condition(tlsPolicy("v1alpha3"), "Accepted", "True");
    await condition(
      ["gateway.networking.x-k8s.io/v1alpha1", "XListenerSet", "more"],
      "Accepted",
      "True",
    );
    await condition([`${gatewayApi}/v1alpha2`, "TLSRoute", "passed"], "Accepted", "False");
  });

  it("kinds of ours have statuses under their other names, too", async () => {
    await condition(["gwc.dev/v1alpha1", "GatewayPolicy", "own"], "Attached", "True");
    const other = ["agentgateway.dev/v1alpha1", "AgentgatewayPolicy", "other"] as const;
    await condition(other, "Attached", "True");
  });

  it("the class and the log say what is older and what is missing", async () => {
    const own = ["gateway.networking.k8s.io/v1", "GatewayClass", "gwc"] as const;
    const { message } = await condition(own, "SupportedVersion", "False");
    expect(message).toContain(`the definitions of the Gateway API are those of ${OLDER}`);
    expect(message).toContain("kinds that are not installed are not read: GatewayBackend;");
    expect(message).toMatch(/API server drops what they lack: GatewayPolicy spec\.traffic\.cors$/);
    await controller.seen(/warn .*drops what they lack: GatewayPolicy spec\.traffic\.cors/);
  });

  it("newer ones are taken up as they come, and no object is missing or there twice", async () => {
    await api.installGatewayApi("experimental");
    await api.apply(...(customResourceDefinitions() as readonly TestObject[]));
    await api.applyText(`
apiVersion: ${gatewayApi}/v1
kind: ListenerSet
metadata: { name: newer }
spec: { parentRef: { name: front }, listeners: [{ name: newer, port: 8082, protocol: HTTP }] }
`);
    await condition([`${gatewayApi}/v1`, "ListenerSet", "newer"], "Accepted", "True");
    const own = ["gateway.networking.k8s.io/v1", "GatewayClass", "gwc"] as const;
    await condition(own, "SupportedVersion", "True", "");
    // Both versions of the policy are served now; what changes it counts once.
    await api.ask(
      "PATCH",
      api.url({
        apiVersion: `${gatewayApi}/v1`,
        kind: "BackendTLSPolicy",
        metadata: { name: "echo" },
      }),
      { spec: { validation: { hostname: "b.test" } } },
      "application/merge-patch+json",
    );
    await eventually(async () => {
      const found = await api.get(
        ...([`${gatewayApi}/v1`, "BackendTLSPolicy", "default", "echo"] as const),
      );
      const conditions = found.status.ancestors[0].conditions;
      return (
        conditions.every(
          ({ status, observedGeneration }: { status: string; observedGeneration: number }) =>
            status === "True" && observedGeneration === found.metadata.generation,
        ) || null
      );
    }, "the status of the changed policy");
  });
});

/** Definitions of gwc's kinds as an older version had them: one kind, and not all of its fields; and the kind's other name. */
function olderOwn(): readonly TestObject[] {
  const policy = customResourceDefinitions().find(({ metadata }) =>
    JSON.stringify(metadata).includes("gatewaypolicies"),
  );
  const text = JSON.stringify(policy);
  const older = JSON.parse(text);
  delete older.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.traffic.properties
    .cors;
  const names = text
    .replaceAll('gwc.dev"', 'agentgateway.dev"')
    .replaceAll("gatewaypolic", "agentgatewaypolic")
    .replaceAll("GatewayPolicy", "AgentgatewayPolicy")
    .replaceAll("gwpol", "agwpol");
  return [older, JSON.parse(names)];
}

const OBJECTS = `
apiVersion: ${gatewayApi}/v1
kind: GatewayClass
metadata: { name: gwc }
spec: { controllerName: gwc.dev/gateway }
---
apiVersion: ${gatewayApi}/v1
kind: Gateway
metadata: { name: front }
spec:
  gatewayClassName: gwc
  allowedListeners: { namespaces: { from: Same } }
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
---
apiVersion: v1
kind: Service
metadata: { name: echo }
spec: { ports: [{ port: 443 }] }
---
apiVersion: ${gatewayApi}/v1
kind: HTTPRoute
metadata: { name: one }
spec:
  parentRefs: [{ name: front }]
  rules: [{ backendRefs: [{ name: echo, port: 443 }] }]
---
apiVersion: ${gatewayApi}/v1alpha2
kind: TLSRoute
metadata: { name: passed }
spec:
  parentRefs: [{ name: front }]
  hostnames: [a.example.com]
  rules: [{ backendRefs: [{ name: echo, port: 443 }] }]
---
apiVersion: ${gatewayApi}/v1alpha3
kind: BackendTLSPolicy
metadata: { name: echo }
spec:
  targetRefs: [{ group: "", kind: Service, name: echo }]
  validation: { hostname: a.test, wellKnownCACertificates: System }
---
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XListenerSet
metadata: { name: more }
spec:
  parentRef: { name: front }
  listeners: [{ name: more, port: 8081, protocol: HTTP }]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: { name: own }
spec:
  targetRefs: [{ group: ${gatewayApi}, kind: Gateway, name: front }]
  traffic: { timeouts: { request: 10s } }
---
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayPolicy
metadata: { name: other }
spec:
  targetRefs: [{ group: ${gatewayApi}, kind: Gateway, name: front }]
  traffic: { authorization: { policy: { matchExpressions: ['true'] } } }
`;

import { beforeAll, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.ts";
import { freePorts } from "../../harness/free-port.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import type { GwcProcess } from "../../harness/gwc.ts";
import type { KubernetesApi } from "../../harness/kubernetes-api.ts";
import { missingPods, serviceManifest } from "../../harness/pod-address.ts";
import { send } from "../../harness/send.ts";
import { describeUnless } from "../../harness/skip.ts";
import { routeManifest } from "./route-manifest.ts";
import { startPod } from "./simulated-pods.ts";

const missing = missingPods();

interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

describeUnless(missing)("changes that data planes do not serve", () => {
  let front: FrontGateway;
  let api: KubernetesApi;
  let controller: GwcProcess;
  let agent: GwcProcess;
  let metricsPort = 0;

  beforeAll(async () => {
    front = await FrontGateway.start();
    ({ api } = front);
    const pod = await startPod("served");
    await api.applyText(serviceManifest("one", pod.port));
    await api.applyText(routeManifest("one", "one"));
    [metricsPort = 0] = await freePorts(1);
    controller = front.startController("--metrics-port", String(metricsPort));
    await controller.seen(/leading/);
    agent = await front.startDataPlane(await front.dataPlane());
  }, 180_000);

  const status = async (path: string) =>
    (await send(`http://127.0.0.1:${front.port}${path}`, "GET").catch(() => ({ status: 0 })))
      .status;
  const until = (found: () => Promise<boolean>, what: string) =>
    eventually(async () => ((await found()) ? true : null), what);

  /** A metric of the controller. */
  async function metric(name: string): Promise<number> {
    const { body } = await send(`http://127.0.0.1:${metricsPort}/metrics`, "GET");
    return Number(new RegExp(`^gwc_controller_${name} (\\S+)$`, "m").exec(body)?.[1]);
  }

  async function conditionsOf(
    kind: string,
    name: string,
    list: string,
  ): Promise<readonly StatusCondition[]> {
    const apiVersion =
      kind === "GatewayPolicy" ? "gwc.dev/v1alpha1" : "gateway.networking.k8s.io/v1";
    const found = await api.get(apiVersion, kind, "default", name);
    const status = found.status ?? {};
    const entries: { readonly conditions?: readonly StatusCondition[] }[] =
      list === "" ? [status] : (status[list] ?? []);
    return entries.flatMap(({ conditions = [] }) => conditions);
  }

  /** Waits for a condition; `undefined` status: it is absent. */
  const has = (
    kind: string,
    name: string,
    list: string,
    type: string,
    wanted: string | undefined,
  ) =>
    until(async () => {
      const conditions = await conditionsOf(kind, name, list);
      return conditions.find((each) => each.type === type)?.status === wanted;
    }, `${type} ${wanted} of ${kind} ${name}`);

  const deny = (name: string, path: string) =>
    api.applyText(`
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: { name: ${name} }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: one }]
  traffic: { authorization: { action: Deny, policy: { matchExpressions: ['request.path == "${path}"'] } } }
`);

  it("a policy and a route report that a stopped data plane has not applied them", async () => {
    await until(async () => (await status("/one")) === 200, "the route");
    await has("Gateway", "front", "", "Programmed", "True");
    agent.signal("SIGSTOP");
    try {
      await deny("late", "/one/secret");
      await has("GatewayPolicy", "late", "ancestors", "Attached", "False");
      const attached = (await conditionsOf("GatewayPolicy", "late", "ancestors")).find(
        ({ type }) => type === "Attached",
      );
      expect(attached?.reason).toBe("NotProgrammed");
      expect(attached?.message).toContain("default/front");
      expect([await metric("gateways_stale"), await metric("unserved_seconds")]).toEqual([
        1,
        expect.toSatisfy((age: number) => age > 0),
      ]);
    } finally {
      agent.signal("SIGCONT");
    }
    await until(async () => (await status("/one/secret")) === 403, "the denial");
    await has("GatewayPolicy", "late", "ancestors", "Attached", "True");
    await has("HTTPRoute", "one", "parents", "Programmed", undefined);
    await until(async () => (await metric("gateways_stale")) === 0, "no stale Gateway");
    expect(await metric("unserved_seconds")).toBe(0);
  });

  it("a status never says that a generation is in force that data planes have not taken", async () => {
    const set = (hostname: string) =>
      api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: { name: more }
spec:
  parentRef: { name: front }
  listeners: [{ name: more, port: ${front.port}, protocol: HTTP, hostname: ${hostname} }]
`);
    const url = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/front";
    const allowedListeners = { namespaces: { from: "Same" } };
    await api.ask("PATCH", url, { spec: { allowedListeners } }, "application/merge-patch+json");
    await deny("early", "/one/before");
    await set("before.test");
    await has("ListenerSet", "more", "", "Programmed", "True");
    await until(async () => (await status("/one/before")) === 403, "the denial");
    await has("GatewayPolicy", "early", "ancestors", "Attached", "True");
    agent.signal("SIGSTOP");
    try {
      await deny("early", "/one/after");
      await set("after.test");
      for (const [kind, name, list, type] of [
        ["GatewayPolicy", "early", "ancestors", "Attached"],
        ["ListenerSet", "more", "", "Programmed"],
      ] as const) {
        let last: StatusCondition | undefined;
        const lies: StatusCondition[] = [];
        await until(async () => {
          last = (await conditionsOf(kind, name, list)).find((each) => each.type === type);
          if (last?.status === "True" && last.observedGeneration === 2) lies.push(last);
          return last?.status === "False";
        }, `${type} False of ${kind} ${name}`);
        expect(lies).toEqual([]);
      }
    } finally {
      agent.signal("SIGCONT");
    }
    await has("ListenerSet", "more", "", "Programmed", "True");
    await has("GatewayPolicy", "early", "ancestors", "Attached", "True");
    expect(await status("/one/after")).toBe(403);
    await api.delete({
      ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "ListenerSet" },
      metadata: { name: "more" },
    });
  });

  it("mistakes of another route keep no denial from being in force, also for a controller and a data plane that start with them", async () => {
    const broken = routeManifest("broken", "one").replace(
      /path: *\{[^}]*\}/,
      'path: { type: RegularExpression, value: "/(?!admin).*" }',
    );
    expect(broken).toContain("RegularExpression");
    await api.applyText(broken);
    await has("HTTPRoute", "broken", "parents", "Accepted", "False");
    await deny("next", "/one/next");
    await until(async () => (await status("/one/next")) === 403, "the denial");
    await has("GatewayPolicy", "next", "ancestors", "Attached", "True");
    await has("Gateway", "front", "", "Programmed", "True");
    await controller.stop();
    await agent.stop();
    controller = front.startController();
    await controller.seen(/leading/);
    agent = await front.startDataPlane(await front.dataPlane());
    await until(async () => (await status("/one/next")) === 403, "the denial after a restart");
    expect(await status("/one")).toBe(200);
  });
});

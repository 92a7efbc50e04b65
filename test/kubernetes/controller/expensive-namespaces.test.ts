import { beforeAll, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import type { GwcProcess } from "../../harness/gwc.ts";
import type { KubernetesApi, TestObject } from "../../harness/kubernetes-api.ts";
import { missingPods } from "../../harness/pod-address.ts";
import { send } from "../../harness/send.ts";
import { describeUnless } from "../../harness/skip.ts";

const missing = missingPods();
const group = "gateway.networking.k8s.io";

function route(namespace: string): TestObject {
  return {
    ...{ apiVersion: `${group}/v1`, kind: "HTTPRoute", metadata: { name: "r", namespace } },
    spec: {
      parentRefs: [{ name: "front", namespace: "default" }],
      rules: [{ matches: [{ path: { value: `/${namespace}` } }] }],
    },
  };
}

/** A policy that refuses these paths below the route of a namespace. */
function deny(namespace: string, paths: readonly string[]): TestObject {
  // Loops inside loops take the compiler longer than plain comparisons.
  const terms = paths.map(
    (each) =>
      `[1, 2].exists(a, [1, 2].exists(b, a < b && request.path == "/${namespace}/${each}"))`,
  );
  const size = Math.ceil(terms.length / 64);
  const matchExpressions = Array.from({ length: Math.ceil(terms.length / size) }, (_, index) =>
    terms.slice(index * size, (index + 1) * size).join(" || "),
  );
  return {
    ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy" },
    metadata: { name: "p", namespace },
    spec: {
      targetRefs: [{ group, kind: "HTTPRoute", name: "r" }],
      traffic: {
        authorization: { action: "Deny", policy: { matchExpressions } },
        directResponse: { status: 200 },
      },
    },
  };
}

/** Thousands of paths, of which no two versions have one in common; more would be too large to be read. */
const many = (version: number) =>
  Array.from({ length: 2_500 }, (_, index) => `${version}-${index}`);

describeUnless(missing)("changes that take long to compile", () => {
  let front: FrontGateway;
  let api: KubernetesApi;
  let controller: GwcProcess;

  beforeAll(async () => {
    front = await FrontGateway.start();
    ({ api } = front);
    const gateway = await api.get(`${group}/v1`, "Gateway", "default", "front");
    const [listener] = gateway.spec.listeners;
    const allowedRoutes = { namespaces: { from: "All" } };
    await api.ask(
      "PATCH",
      `/apis/${group}/v1/namespaces/default/gateways/front`,
      { spec: { listeners: [{ ...listener, allowedRoutes }] } },
      "application/merge-patch+json",
    );
    for (const name of ["b", "x"]) {
      await api.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await api.apply(route(name));
      await api.apply(deny(name, ["none"]));
    }
    controller = front.startController();
    await controller.seen(/leading/);
    await front.startDataPlane();
  }, 180_000);

  /** Whether the policy of a namespace is served in its newest generation. */
  const isServed = async (namespace: string) => {
    const { metadata, status } = await api.get("gwc.dev/v1alpha1", "GatewayPolicy", namespace, "p");
    const [accepted] = status?.ancestors?.[0]?.conditions ?? [];
    return accepted?.observedGeneration === metadata.generation;
  };
  /** The message of the policy's condition that its newest state waits. */
  const delayOf = async (namespace: string): Promise<string | undefined> => {
    const { status } = await api.get("gwc.dev/v1alpha1", "GatewayPolicy", namespace, "p");
    const { conditions = [] } = status?.ancestors?.[0] ?? {};
    return conditions.find(({ type }: { type: string }) => type === "Delayed")?.message;
  };
  const until = (found: () => Promise<boolean>, what: string) =>
    eventually(async () => ((await found()) ? true : null), what);
  const status = async (path: string) =>
    (await send(`http://127.0.0.1:${front.port}${path}`, "GET")).status;

  it("wait for the next turn of their namespace, and those of others are compiled at once", async () => {
    for (const version of [1, 2]) {
      await api.apply(deny("b", [`early-${version}`]));
      await until(async () => (await status(`/b/early-${version}`)) === 403, "a cheap change");
    }
    await api.apply(deny("x", many(1)));
    await controller.seen(/compiling the changes of namespace "x" took .* its next ones wait/);
    await api.apply(deny("x", many(2)));
    await api.apply(deny("b", ["secret"]));
    await until(() => isServed("b"), "the change of b");
    expect(await isServed("x")).toBe(false);
    await until(async () => (await delayOf("x"))?.includes('namespace "x"') === true, "the delay");
    expect(await delayOf("x")).toMatch(/compiled after \d{4}-\d\d-\d\dT[\d:]+Z$/);
    expect(await delayOf("b")).toBeUndefined();
    expect([await status("/b/secret"), await status("/x/2-1"), await status("/x/1-1")]).toEqual([
      ...[403, 200, 403],
    ]);
    await until(() => isServed("x"), "the change of x");
    expect([await status("/x/2-1"), await status("/x/1-1")]).toEqual([403, 200]);
    await until(async () => (await delayOf("x")) === undefined, "the end of the delay");
  }, 180_000);
});

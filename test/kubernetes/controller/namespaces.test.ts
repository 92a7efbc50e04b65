import { expect, it } from "vitest";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import type { GwcProcess } from "../../harness/gwc.ts";
import { KubernetesApi, missingApiServer } from "../../harness/kubernetes-api.ts";
import { describeUnless } from "../../harness/skip.ts";

const missing = missingApiServer();

const GATEWAY_API = "gateway.networking.k8s.io/v1";

function team(name: string): string {
  return `
apiVersion: v1
kind: Namespace
metadata: { name: ${name}, labels: { team: ${name} } }
---
apiVersion: ${GATEWAY_API}
kind: Gateway
metadata: { name: front, namespace: ${name} }
spec: { gatewayClassName: gwc, listeners: [{ name: http, port: 8080, protocol: HTTP }] }
---
apiVersion: v1
kind: Service
metadata: { name: echo, namespace: ${name} }
spec: { ports: [{ port: 80 }] }
---${route(name, "one")}`;
}

function route(namespace: string, name: string): string {
  return `
apiVersion: ${GATEWAY_API}
kind: HTTPRoute
metadata: { name: ${name}, namespace: ${namespace} }
spec: { parentRefs: [{ name: front }], rules: [{ backendRefs: [{ name: echo, port: 80 }] }] }
`;
}

describeUnless(missing)("namespaces that controllers share", () => {
  let api: KubernetesApi;

  /** A release in a namespace of its own, which reads the namespaces of a team. */
  async function startRelease(name: string): Promise<GwcProcess> {
    const namespace = `release-${name}`;
    await api.applyText(`apiVersion: v1\nkind: Namespace\nmetadata: { name: ${namespace} }`);
    const selectors = JSON.stringify([{ matchLabels: { team: name } }]);
    const kubeconfig = api.kubeconfigOf("admin-token", namespace);
    const release = startController({ kubeconfig }, "--namespaces", selectors);
    await release.seen(/leading/);
    return release;
  }

  /** A route, once it is accepted. */
  function accepted(namespace: string, name: string): Promise<{ resourceVersion: string }> {
    return eventually(async () => {
      const found = await api.get(GATEWAY_API, "HTTPRoute", namespace, name);
      const entries: { conditions: { type: string; status: string }[] }[] =
        found?.status?.parents ?? [];
      const isAccepted = entries.some(({ conditions }) =>
        conditions.some(({ type, status }) => type === "Accepted" && status === "True"),
      );
      return isAccepted ? found.metadata : null;
    }, `${namespace}/${name} to be accepted`);
  }

  it("are one controller's each: what it says there stays, and goes with the namespace to another one", async () => {
    api = await KubernetesApi.start();
    await api.applyText(`
apiVersion: ${GATEWAY_API}
kind: GatewayClass
metadata: { name: gwc }
spec: { controllerName: gwc.dev/gateway }
---${team("a")}---${team("b")}`);
    const [a, b] = [await startRelease("a"), await startRelease("b")];
    const before = [await accepted("a", "one"), await accepted("b", "one")];
    // Later objects are compiled and reported by both; earlier ones are not reported again.
    await api.applyText(`${route("a", "two")}---${route("b", "two")}`);
    for (const namespace of ["a", "b"]) await accepted(namespace, "two");
    const after = [await accepted("a", "one"), await accepted("b", "one")];
    expect(after.map(({ resourceVersion }) => resourceVersion)).toEqual(
      before.map(({ resourceVersion }) => resourceVersion),
    );
    const [fromA, fromB] = [a.output.length, b.output.length];
    const metadata = { labels: { team: "a" } };
    const merge = "application/merge-patch+json";
    await api.ask("PATCH", "/api/v1/namespaces/b", { metadata }, merge);
    await a.seen(/compiled 2 gateways/, fromA);
    await b.seen(/compiled 0 gateways/, fromB);
    await api.applyText(route("b", "three"));
    await accepted("b", "three");
    await accepted("b", "one");
  });
});

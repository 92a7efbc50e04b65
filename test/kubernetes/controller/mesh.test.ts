import { createServer } from "node:http";
import { expect } from "vitest";
import { eventually } from "../../harness/eventually.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import { listen } from "../../harness/listen.ts";
import { MeshAuthority } from "../../harness/mesh-authority.ts";
import { startMeshPod } from "../../harness/mesh-pod.ts";
import { missingPods, serviceManifest, sliceManifest } from "../../harness/pod-address.ts";
import { send } from "../../harness/send.ts";
import { itUnless } from "../../harness/skip.ts";
import { Workspace } from "../../harness/workspace.ts";

const OWN = "spiffe://cluster.local/ns/default/sa/front";

const missing = missingPods();

itUnless(missing)(
  "a Gateway joins a mesh while it serves, and its pods are asked as who they are",
  async () => {
    const front = await FrontGateway.start();
    const { api, port } = front;
    const authority = new MeshAuthority({ spiffeId: OWN });
    await authority.start();
    const shop = await startMeshPod(authority, "spiffe://cluster.local/ns/default/sa/shop", "::");
    // Each request has a connection, and a handshake, of its own.
    shop.server.maxRequestsPerSocket = 1;
    await api.applyText(serviceManifest("shop", shop.port, { pod: "shop-0" }));
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop }
spec:
  parentRefs: [{ name: front }]
  rules: [{ backendRefs: [{ name: shop, port: 80 }] }]
`);
    const pod = (account: string, label: string) =>
      api.applyText(`
apiVersion: v1
kind: Pod
metadata: { name: shop-0, labels: { ${label} } }
spec:
  serviceAccountName: ${account}
  containers: [{ name: shop, image: shop }]
`);
    const answered = (body: string | RegExp) =>
      eventually(async () => {
        const got = await send(`http://127.0.0.1:${port}/`, "GET").catch(() => undefined);
        const text = `${got?.status} ${got?.body}`;
        return (typeof body === "string" ? text === body : body.test(text)) ? text : null;
      }, String(body));
    await pod("shop", "security.istio.io/tlsMode: istio");
    const controller = front.startController();
    await controller.seen(/leading/);
    const agent = await front.startDataPlane({
      CA_AUTH_TOKEN: new Workspace({ token: "any" }).path("token"),
      CA_ROOT_CA: authority.root,
    });
    // Until then nothing is encrypted, and a pod of a mesh takes that for no HTTP.
    await answered(/^50[23] /);
    await front.parameters(`mesh: { caAddress: "https://127.0.0.1:${authority.port}" }`);
    await answered(`200 URI:${OWN} by istio`);
    const compiled = () => [...controller.output.matchAll(/compiled \d+ gateways/g)].length;
    const before = compiled();
    // The same name, and another account: what answers there is not that one.
    await api.delete({ apiVersion: "v1", kind: "Pod", metadata: { name: "shop-0" } });
    await pod("cash", "security.istio.io/tlsMode: istio");
    await answered(/^503 /);
    await agent.seen(/the certificate of the pod is not one of .*\/sa\/cash/);
    expect(compiled()).toBe(before);

    // Without a sidecar a pod is called in plain text, unless its namespace is in a mesh of another kind.
    const plain = await listen(
      createServer((_, response) => response.end("plain")),
      "0.0.0.0",
    );
    await api.applyText(sliceManifest("shop", plain, "shop-0"));
    await pod("cash", "istio.io/dataplane-mode: none");
    await answered("200 plain");
    const url = "/api/v1/namespaces/default";
    const label = (value: string | null) => {
      const metadata = { labels: { "istio.io/dataplane-mode": value } };
      return api.ask("PATCH", url, { metadata }, "application/merge-patch+json");
    };
    const message = (wanted: RegExp) =>
      eventually(async () => {
        const { status } = await api.get(
          ...(["gateway.networking.k8s.io/v1", "Gateway", "default", "front"] as const),
        );
        const said: { type: string; status: string; message: string }[] = status.conditions;
        const own = said.find(({ type }) => type === "Programmed");
        return (own?.status === "True" && wanted.test(own.message)) || null;
      }, `a Gateway that is programmed and says ${wanted}`);
    await label("ambient");
    await answered("200 plain");
    await message(/^$/);
    await pod("cash", "app: shop");
    await answered(/^503 /);
    await message(/pods of "default\/shop" are not called: .* HBONE/);
    await label(null);
    await answered("200 plain");
    await message(/^$/);
  },
  180_000,
);

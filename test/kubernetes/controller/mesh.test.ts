import { networkInterfaces } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePorts } from "../../harness/free-port.ts";
import { GwcProcess } from "../../harness/gwc.ts";
import { KubernetesApi, missingApiServer } from "../../harness/kubernetes-api.ts";
import { MeshAuthority } from "../../harness/mesh-authority.ts";
import { startMeshPod } from "../../harness/mesh-pod.ts";
import { send } from "../../harness/send.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";

const OWN = "spiffe://cluster.local/ns/default/sa/front";

/** An address that is not the machine's loopback: the API server takes no other one for a pod. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === "IPv4" && !each.internal)?.address;
const missing =
  missingApiServer() ?? (address === undefined ? "only loopback is there" : undefined);
const note = missing === undefined ? "" : ` (left out: ${missing})`;

it.runIf(missing === undefined)(
  `a Gateway joins a mesh while it serves, and its pods are asked as who they are${note}`,
  async () => {
    const api = await KubernetesApi.start();
    const authority = new MeshAuthority({ spiffeId: OWN });
    await authority.start();
    const shop = await startMeshPod(authority, "spiffe://cluster.local/ns/default/sa/shop", "::");
    // Each request has a connection, and a handshake, of its own.
    shop.server.maxRequestsPerSocket = 1;
    const [port, stats, ready, xds] = await freePorts(4);
    await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gwc }
spec: { controllerName: gwc.dev/gateway }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front }
spec:
  gatewayClassName: gwc
  infrastructure: { parametersRef: { group: gwc.dev, kind: GatewayParameters, name: front } }
  listeners: [{ name: http, port: ${port}, protocol: HTTP }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: front }
---
apiVersion: v1
kind: Service
metadata: { name: shop }
spec: { ports: [{ port: 80, targetPort: ${shop.port} }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: shop, labels: { kubernetes.io/service-name: shop } }
addressType: IPv4
endpoints: [{ addresses: ["${address}"], targetRef: { kind: Pod, namespace: default, name: shop-0 } }]
ports: [{ name: "", port: ${shop.port} }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop }
spec:
  parentRefs: [{ name: front }]
  rules: [{ backendRefs: [{ name: shop, port: 80 }] }]
`);
    const parameters = (mesh: string) =>
      api.applyText(`
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: front }
spec:
  ${mesh}
  rawConfig:
    config: { statsAddr: "127.0.0.1:${stats}", readinessAddr: "127.0.0.1:${ready}" }
`);
    const pod = (account: string, mode: string) =>
      api.applyText(`
apiVersion: v1
kind: Pod
metadata: { name: shop-0, labels: { security.istio.io/tlsMode: ${mode} } }
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
    await parameters("logging: { level: info }");
    await pod("shop", "istio");
    const controller = startController(api, "--xds-port", String(xds));
    await controller.seen(/leading/);
    const token = await api.ask("POST", "/api/v1/namespaces/default/serviceaccounts/front/token", {
      spec: { audiences: ["gwc.dev/controller"], expirationSeconds: 3600 },
    });
    const folder = temporaryFolder({ "xds-token": token.body.status.token, "istio-token": "any" });
    const agent = new GwcProcess(["agent"], {
      env: {
        ...{ XDS_ADDRESS: `http://127.0.0.1:${xds}`, NAMESPACE: "default", GATEWAY: "front" },
        ...{ SERVICE_ACCOUNT: "front", GWC_AGENT_DIR: temporaryFolder() },
        XDS_TOKEN_FILE: path.join(folder, "xds-token"),
        ...{ CA_AUTH_TOKEN: path.join(folder, "istio-token"), CA_ROOT_CA: authority.root },
      },
    });
    await agent.seen(/serving generation/);
    // Until then nothing is encrypted, and a pod of a mesh takes that for no HTTP.
    await answered(/^50[23] /);
    await parameters(`mesh: { caAddress: "https://127.0.0.1:${authority.port}" }`);
    await answered(`200 URI:${OWN} by istio`);
    const compiled = () => [...controller.output.matchAll(/compiled \d+ gateways/g)].length;
    const before = compiled();
    // The same name, and another account: what answers there is not that one.
    await api.delete({ apiVersion: "v1", kind: "Pod", metadata: { name: "shop-0" } });
    await pod("cash", "istio");
    await answered(/^503 /);
    await agent.seen(/the certificate of the pod is not one of .*\/sa\/cash/);
    expect(compiled()).toBe(before);
  },
  180_000,
);

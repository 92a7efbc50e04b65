import { spawnSync } from "node:child_process";
import path from "node:path";
import { Agent, request } from "undici";
import { expect, it } from "vitest";
import { callWith } from "../../harness/call.ts";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { frontManifest, gatewayClass } from "../../harness/gateway-class.ts";
import { executable, gwc } from "../../harness/gwc.ts";
import { KubernetesApi, missingApiServer } from "../../harness/kubernetes-api.ts";
import { ISOLATED, missingNetwork, NODE_ADDRESS, PodNetwork } from "../../harness/pod-network.ts";
import { ProcessKubelet } from "../../harness/process-kubelet.ts";
import { RedisServer } from "../../harness/redis.ts";
import { root } from "../../harness/root.ts";
import { describeUnless, NOT_LONG } from "../../harness/skip.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";

const PROGRAMS = ["kube-controller-manager", "kube-scheduler"];
const missing = NOT_LONG ?? missingApiServer(PROGRAMS) ?? missingNetwork();

/** Set in the process that has a network of its own. */
const INSIDE = "GWC_POD_NETWORK";
const isInside = process.env[INSIDE] === "1";
const PATIENCE = 600_000;
const PORT = 8080;

describeUnless(isInside ? "runs outside the network of pods" : missing)("three pods", () => {
  it(
    "share limits and keys",
    () => {
      const [command = "", ...parameters] = ISOLATED;
      const vitest = path.join(root, "node_modules", "vitest", "vitest.mjs");
      const own = [process.execPath, vitest, "run", path.relative(root, import.meta.filename)];
      const env = { ...process.env, [INSIDE]: "1" };
      const { status } = spawnSync(command, [...parameters, ...own], {
        ...{ cwd: root, env, stdio: "inherit" },
      });
      expect(status).toBe(0);
    },
    PATIENCE,
  );
});

describeUnless(isInside ? undefined : "runs in the network of pods that the test above starts")(
  "three pods of the controller, with Redis",
  () => {
    it(
      "count limits together, also when one is killed, and refuse a revoked key within a second",
      async () => {
        const network = new PodNetwork();
        const api = await KubernetesApi.start("pods");
        const options = ["--bind", "127.0.0.1", NODE_ADDRESS, "--protected-mode", "no"];
        const redis = await RedisServer.start({ options });
        const url = `redis://${NODE_ADDRESS}:${redis.port}`;
        await api.applyText(`${secret(url)}---${manifests}`);
        const commandOf = (image: string) =>
          image === "gwc" ? [process.execPath, executable] : undefined;
        new ProcessKubelet(api, { network, commandOf, logs: temporaryFolder() });
        const controller = startController(
          api,
          ...["--image", "gwc", "--xds-port", "9978"],
          ...["--xds-address", `http://${NODE_ADDRESS}:9978`],
        );
        await controller.seen(/leading/);
        const pods = await eventually(async () => {
          const addresses = await ready(api);
          return addresses.length === 3 ? addresses : null;
        }, "three pods");

        const leased = await flood(() => pods, "leased", 1600);
        expect(leased).toBeLessThanOrEqual(1000);
        expect(leased).toBeGreaterThanOrEqual(833);
        expect(await flood(() => pods, "strict", 300)).toBe(200);

        const cwd = temporaryFolder({ "manifests/all.yaml": `${secret(url)}---${manifests}` });
        const keys = (...argv: string[]) =>
          gwc(["keys", ...argv, "--file", "manifests"], { cwd, env: { GWC_STORE_URL: url } });
        const key = (await keys("create", "ci", "--rate", "90/month")).stdout.trim();
        const statuses = () =>
          Promise.all(
            pods.map(async (pod) => (await callWith(`http://${pod}:${PORT}/keys`, key)).status),
          );
        let passed = 0;
        for (let round = 0; round < 33; round++)
          passed += (await statuses()).filter((status) => status === 200).length;
        expect(passed).toBe(90);
        const other = (await keys("create", "other")).stdout.trim();
        const ofOther = () =>
          Promise.all(
            pods.map(async (pod) => (await callWith(`http://${pod}:${PORT}/keys`, other)).status),
          );
        expect(await ofOther()).toEqual([200, 200, 200]);
        expect((await keys("revoke", "other")).code).toBe(0);
        await expect.poll(ofOther).toEqual([401, 401, 401]);

        // The kubelet of this test kills a deleted pod at once, as a node that fails does.
        const killed = flood(
          () => pods,
          "killed",
          900,
          (sent) => {
            if (sent === 300) void deleteFirstPod(api);
          },
        );
        let granted = await killed;
        const later = await eventually(async () => {
          const addresses = await ready(api);
          const isOther = addresses.some((each) => !pods.includes(each));
          return addresses.length === 3 && isOther ? addresses : null;
        }, "another pod");
        granted += await flood(() => later, "killed", 900);
        expect(granted).toBeLessThanOrEqual(1000);
        expect(granted).toBeGreaterThanOrEqual(700);
      },
      PATIENCE,
    );
  },
);

/** Sends requests with 60 clients, in turn to the pods. Returns how many were granted. */
async function flood(
  pods: () => readonly string[],
  route: string,
  count: number,
  during: (sent: number) => void = () => {},
): Promise<number> {
  const agent = new Agent({ connections: 20 });
  let [sent, granted] = [0, 0];
  const client = async (index: number): Promise<void> => {
    while (sent < count) {
      sent += 1;
      during(sent);
      const all = pods();
      const url = `http://${all[index % all.length]}:${PORT}/${route}`;
      const status = await request(url, { dispatcher: agent, headersTimeout: 5000 }).then(
        async ({ statusCode, body }) => {
          await body.dump();
          return statusCode;
        },
        () => 0,
      );
      if (status === 200) granted += 1;
    }
  };
  await Promise.all(Array.from({ length: 60 }, (_, index) => client(index)));
  await agent.destroy();
  return granted;
}

/** Returns the addresses of pods that are ready, by their Service. */
async function ready(api: KubernetesApi): Promise<readonly string[]> {
  const selector = "labelSelector=kubernetes.io%2Fservice-name%3Dfront";
  const url = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?${selector}`;
  const { body } = await api.ask("GET", url);
  const items: {
    endpoints: { addresses: string[]; conditions: { ready: boolean } }[] | null;
  }[] = body.items ?? [];
  return items
    .flatMap(({ endpoints }) => endpoints ?? [])
    .flatMap(({ addresses, conditions }) => (conditions.ready ? addresses : []));
}

async function deleteFirstPod(api: KubernetesApi): Promise<void> {
  const pods = "/api/v1/namespaces/default/pods";
  const { body } = await api.ask("GET", `${pods}?labelSelector=app.kubernetes.io%2Fname%3Dfront`);
  const [first]: readonly { readonly metadata: { readonly name: string } }[] = body.items;
  await api.ask("DELETE", `${pods}/${first?.metadata.name}`);
}

function secret(url: string): string {
  return `
apiVersion: v1
kind: Secret
metadata: { name: redis }
stringData: { url: "${url}" }
`;
}

function route(name: string, traffic: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: front }]
  rules: [{ matches: [{ path: { type: PathPrefix, value: /${name} } }] }]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: { name: ${name} }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: ${name} }]
  traffic: { directResponse: { status: 200, body: hello }, ${traffic} }
`;
}

const limitOf = (requests: number, more = "") =>
  `rateLimit: { local: [{ requests: ${requests}, unit: Hours${more} }] }`;

const manifests = `${gatewayClass}---
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: front }
spec:
  store: { redis: { secretRef: { name: redis } } }
  deployment: { spec: { replicas: 3 } }
---${frontManifest(PORT)}---${route("leased", limitOf(1000))}---${route(
  "strict",
  limitOf(200, ", consistency: Strict"),
)}---${route("killed", limitOf(1000, ", onStoreFailure: Closed"))}---${route(
  "keys",
  "apiKeyAuthentication: { store: true }",
)}`;

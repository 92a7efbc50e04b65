import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { expect, inject, it } from "vitest";
import { eventually } from "../../harness/eventually.ts";
import { frontManifest, gatewayClass } from "../../harness/gateway-class.ts";
import { KubernetesApi, missingApiServer } from "../../harness/kubernetes-api.ts";
import { listen } from "../../harness/listen.ts";
import { ownPackage, PACKAGES } from "../../harness/own-package.ts";
import { ISOLATED, missingNetwork, NODE_ADDRESS, PodNetwork } from "../../harness/pod-network.ts";
import { ProcessKubelet } from "../../harness/process-kubelet.ts";
import { root } from "../../harness/root.ts";
import { send } from "../../harness/send.ts";
import { describeUnless, NOT_LONG } from "../../harness/skip.ts";
import { startLoad } from "../../harness/steady-load.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { TestProcess } from "../../harness/test-process.ts";

const PROGRAMS = ["kube-controller-manager", "kube-scheduler"];
const missing = NOT_LONG ?? missingApiServer(PROGRAMS) ?? missingNetwork();

/** Set in the process that has a network of its own. */
const INSIDE = "GWC_POD_NETWORK";
const isInside = process.env[INSIDE] === "1";
const PATIENCE = 900_000;
const PORT = 8080;

/** The release that is upgraded from: `compiler/gwc.mjs` of an older one, else this one with another runtime. */
const { GWC_OTHER_RELEASE } = process.env;

describeUnless(isInside ? "runs outside the network of pods" : missing)("an upgrade", () => {
  it(
    "is served through, from one release to another and back",
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
  "in a network of pods",
  () => {
    let api: KubernetesApi;
    let releases: Readonly<Record<string, string>>;

    it(
      "pods of either release serve, whichever release the controller is of",
      async () => {
        const network = new PodNetwork();
        api = await KubernetesApi.start("pods");
        releases = { this: thisRelease(), other: GWC_OTHER_RELEASE ?? otherRelease() };
        const [one, two] = await Promise.all(["one", "two"].map(startBackend));
        await api.applyText(manifests(one ?? 0));
        const commandOf = (image: string) => {
          const executable = releases[image.replace("gwc:", "")];
          return executable === undefined ? undefined : [process.execPath, executable];
        };
        const logs = temporaryFolder();
        new ProcessKubelet(api, { network, commandOf, logs, isPolite: true });
        let controller = await startController("other", true);
        await programmed("True");
        await runs("other");
        const load = startLoad(nextPod);
        const replaced = async (release: "this" | "other", backend: [string, number]) => {
          await controller.stop();
          // Pods of the release before are there as long as nobody makes others.
          controller = await startController(release, false);
          // One that is given may be older than this refusal.
          if (GWC_OTHER_RELEASE === undefined || release === "other")
            expect(await programmed("False")).toMatch(/another release of gwc/);
          await api.applyText(slice(backend[1]));
          await answered((text) => text === backend[0]);
          await controller.stop();
          controller = await startController(release, true);
          await runs(release);
          await programmed("True");
          await api.applyText(route(release));
          await answered((_, version) => version === release);
        };
        await replaced("this", ["two", two ?? 0]);
        await replaced("other", ["one", one ?? 0]);
        expect(await load.stop()).toBeGreaterThan(100);
        expect(load.failures).toEqual([]);
      },
      PATIENCE,
    );

    async function startController(release: string, makesPods: boolean): Promise<TestProcess> {
      const controller = new TestProcess(process.execPath, [
        ...[releases[release] ?? "", "controller", "--kubeconfig", api.controllerKubeconfig],
        ...["--xds-address", `http://${NODE_ADDRESS}:9978`],
        ...(makesPods ? ["--image", `gwc:${release}`] : []),
      ]);
      await controller.seen(/leading/);
      return controller;
    }

    /** Returns the Gateway's message once it is programmed, or not. */
    function programmed(wanted: "True" | "False"): Promise<string> {
      return eventually(async () => {
        const found = await api.get("gateway.networking.k8s.io/v1", "Gateway", "default", "front");
        const conditions: { type: string; status: string; reason: string; message: string }[] =
          found.status?.conditions ?? [];
        const own = conditions.find(({ type }) => type === "Programmed");
        if (own?.status !== wanted || own.reason === "Pending") return null;
        return own.message;
      }, `Programmed ${wanted}`);
    }

    /** The addresses of pods that are ready, by their Service. */
    async function ready(): Promise<readonly string[]> {
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

    /** All pods of the Gateway are of a release. */
    function runs(release: string): Promise<unknown> {
      return eventually(async () => {
        const selector = "labelSelector=app.kubernetes.io%2Fname%3Dfront";
        const { body } = await api.ask("GET", `/api/v1/namespaces/default/pods?${selector}`);
        const images: readonly string[] = body.items.map(
          (pod: { spec: { containers: { image: string }[] } }) => pod.spec.containers[0]?.image,
        );
        const isWhole = (await ready()).length === 2 && images.length === 2;
        return (isWhole && images.every((each) => each === `gwc:${release}`)) || null;
      }, `pods of the release ${release}`);
    }

    /** Every ready pod answers in this way. */
    function answered(is: (text: string, version: unknown) => boolean): Promise<unknown> {
      return eventually(async () => {
        const all = await Promise.all(
          (await ready()).map((address) => send(`http://${address}:${PORT}/`, "GET")),
        );
        const isAll = all.every(({ body, headers }) => is(body, headers["x-version"]));
        return (all.length > 0 && isAll) || null;
      }, "an answer of every pod");
    }

    /** Asks ready pods, as a balancer does that follows them. */
    async function nextPod(count: number): Promise<string> {
      const addresses = await ready();
      return `http://${addresses[count % addresses.length]}:${PORT}/`;
    }
  },
);

function startBackend(name: string): Promise<number> {
  return listen(
    createServer((_, response) => response.end(name)),
    "0.0.0.0",
  );
}

function thisRelease(): string {
  return path.join(ownPackage(inject("sourceDigest")), "compiler", "gwc.mjs");
}

/** The package with a runtime that is another one. */
function otherRelease(): string {
  const folder = path.join(PACKAGES, "other-release");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(PACKAGES, { recursive: true });
  cpSync(ownPackage(inject("sourceDigest")), folder, { recursive: true });
  appendFileSync(path.join(folder, "runtime", "gateway", "gateway.ts"), "// Another release.\n");
  return path.join(folder, "compiler", "gwc.mjs");
}

function route(version: string): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: one }
spec:
  parentRefs: [{ name: front }]
  rules:
    - filters:
        - type: ResponseHeaderModifier
          responseHeaderModifier: { set: [{ name: x-version, value: ${version} }] }
      backendRefs: [{ name: one, port: 80 }]
`;
}

function slice(port: number): string {
  return `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: one, labels: { kubernetes.io/service-name: one } }
addressType: IPv4
endpoints: [{ addresses: ["${NODE_ADDRESS}"] }]
ports: [{ name: "", port: ${port} }]
`;
}

function manifests(backend: number): string {
  return `${gatewayClass}---
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: front }
spec:
  shutdown: { min: 3, max: 10 }
  deployment: { spec: { replicas: 2 } }
---${frontManifest(PORT)}---
apiVersion: v1
kind: Service
metadata: { name: one }
spec: { ports: [{ port: 80 }] }
---${slice(backend)}---${route("first")}`;
}

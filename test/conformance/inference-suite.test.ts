import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { homedir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { type KubernetesApi, kubernetesBinary } from "../harness/kubernetes-api.ts";
import { listen } from "../harness/listen.ts";
import { NODE_ADDRESS } from "../harness/pod-network.ts";
import { describeUnless } from "../harness/skip.ts";
import { Workspace } from "../harness/workspace.ts";
import {
  type ConformanceSuite,
  failedTests,
  missingSuite,
  notInside,
  PATIENCE,
  runSuite,
} from "./suite-in-network.ts";

/** The release that gwc is tested with: `.ci/kubernetes` builds it. */
const RELEASE = "v1.3.0";
const PICKERS = ["primary", "secondary", "dp"];

const suite: ConformanceSuite = {
  name: "gwc-inference-conformance",
  binary: "inference.test",
  options: ["--allow-crds-mismatch"],
  controllerOptions: ["--inference-extension"],
  prepare: async (api) => {
    for (const name of DEFINITIONS) await api.applyText(definition(name));
    await api.applyText(pickerPolicies());
  },
  commands: async (api) => {
    const kubeconfig = await kubeconfigForPods(api);
    const picker = ["env", `KUBECONFIG=${kubeconfig}`, kubernetesBinary("endpoint-picker")];
    return (image) => (image.includes("/epp:") ? picker : undefined);
  },
};
const missing = missingSuite(suite.binary, "endpoint-picker");

/** The kinds of the extension, as Go's module cache has them. */
const DEFINITIONS = [
  "inference.networking.k8s.io_inferencepools",
  "inference.networking.x-k8s.io_inferenceobjectives",
  "inference.networking.x-k8s.io_inferencemodelrewrites",
  "inference.networking.x-k8s.io_inferencepools",
];

function definition(name: string): string {
  const modules = process.env.GOMODCACHE ?? path.join(homedir(), "go", "pkg", "mod");
  const extension = `gateway-api-inference-extension@${RELEASE}`;
  const folder = path.join(modules, "sigs.k8s.io", extension, "config", "crd", "bases");
  return readFileSync(path.join(folder, `${name}.yaml`), "utf8");
}

/** The suite's pickers sign their certificates themselves. */
function pickerPolicies(): string {
  const namespace = "inference-conformance-app-backend";
  const policies = PICKERS.map(
    (name) => `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: { name: ${name}-picker, namespace: ${namespace} }
spec:
  targetRefs: [{ group: "", kind: Service, name: ${name}-endpoint-picker-svc }]
  backend: { tls: { insecureSkipVerify: All } }
`,
  );
  const own = `{apiVersion: v1, kind: Namespace, metadata: {name: ${namespace}}}`;
  return [own, ...policies].join("\n---\n");
}

/** Pods reach the API server, which listens on loopback, at the address of the node. */
async function kubeconfigForPods(api: KubernetesApi): Promise<string> {
  const config = JSON.parse(readFileSync(api.kubeconfig, "utf8"));
  const [{ cluster }] = config.clusters;
  const server = createServer((socket) => {
    const upstream = connect(Number(new URL(cluster.server).port), "127.0.0.1");
    for (const each of [socket, upstream]) each.on("error", () => each.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  const port = await listen(server, NODE_ADDRESS);
  atEnd(() => server.close());
  const reached = { server: `https://${NODE_ADDRESS}:${port}`, "insecure-skip-tls-verify": true };
  const clusters = [{ name: "test", cluster: reached }];
  const text = JSON.stringify({ ...config, clusters });
  return new Workspace({ kubeconfig: text }).path("kubeconfig");
}

describeUnless(missing)("Inference extension conformance", () => {
  it(
    "every test of the profile Gateway passes, with traffic through real endpoint pickers",
    () => expect(failedTests(suite, import.meta.filename)).toEqual([]),
    PATIENCE,
  );
});

describeUnless(notInside)("in a network of pods", () => {
  it("the suite runs", () => runSuite(suite), PATIENCE);
});

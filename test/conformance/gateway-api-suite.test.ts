import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startController } from "../harness/controller.ts";
import { eventually } from "../harness/eventually.ts";
import { KubernetesApi, kubernetesBinary, missingApiServer } from "../harness/kubernetes-api.ts";
import { ISOLATED, missingNetwork, NODE_ADDRESS, PodNetwork } from "../harness/pod-network.ts";
import { ProcessKubelet, STATIC_ADDRESSES } from "../harness/process-kubelet.ts";
import { root } from "../harness/root.ts";
import { TestProcess } from "../harness/test-process.ts";

const PROGRAMS = ["kube-controller-manager", "kube-scheduler", "conformance.test", "echo-basic"];
const isAsked = process.env.GWC_LONG_TESTS === "1";
const missing = isAsked ? (missingApiServer(PROGRAMS) ?? missingNetwork()) : "GWC_LONG_TESTS=1";
const note = missing === undefined ? "" : ` (left out: ${missing})`;

/** Set in the process that has a network of its own. */
const INSIDE = "GWC_POD_NETWORK";
const isInside = process.env[INSIDE] === "1";
/** Folder of the report and the logs. */
const folder = path.join(tmpdir(), "gwc-conformance");
const report = path.join(folder, "report.yaml");
/** The suite takes its time: an hour on a busy machine. */
const PATIENCE = 3_600_000;

/** A row of the report: a profile's tests. */
interface Counts {
  readonly result: string;
  readonly statistics: { readonly Failed: number; readonly Passed: number };
  readonly failedTests?: readonly string[];
}

describe.runIf(!isInside && missing === undefined)(`Gateway API conformance${note}`, () => {
  it(
    "every test of the profiles and features that gwc claims passes, with traffic to its data planes",
    () => {
      const [command = "", ...parameters] = ISOLATED;
      const vitest = path.join(root, "node_modules", "vitest", "vitest.mjs");
      const file = path.relative(root, import.meta.filename);
      const own = [process.execPath, vitest, "run", file];
      const env = { ...process.env, [INSIDE]: "1" };
      rmSync(folder, { recursive: true, force: true });
      spawnSync(command, [...parameters, ...own], { cwd: root, env, stdio: "inherit" });
      const { profiles } = parse(readFileSync(report, "utf8"));
      const failed = profiles.flatMap(({ core, extended }: { core: Counts; extended?: Counts }) => [
        ...(core.failedTests ?? []),
        ...(extended?.failedTests ?? []),
      ]);
      expect(failed).toEqual([]);
    },
    PATIENCE,
  );
});

describe.runIf(isInside)("in a network of pods", () => {
  it(
    "the suite runs",
    async () => {
      mkdirSync(folder, { recursive: true });
      const network = new PodNetwork();
      const api = await KubernetesApi.start("pods");
      const controller = startController(
        api,
        ...["--image", "gwc", "--xds-port", "9978"],
        ...["--xds-address", `http://${NODE_ADDRESS}:9978`],
      );
      new ProcessKubelet(api, { network, commandOf, logs: folder });
      await api.applyText(`
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gwc }
spec: { controllerName: gwc.dev/gateway }
`);
      await controller.seen(/leading/);
      // The suite reads there what it is to test.
      await eventually(async () => {
        const found = await api.get("gateway.networking.k8s.io/v1", "GatewayClass", "", "gwc");
        return found.status?.supportedFeatures === undefined ? null : found;
      }, "the features of the GatewayClass");
      const suite = new TestProcess(
        "sh",
        [
          // It takes long: what it says can be read meanwhile.
          ...["-c", `exec "$@" > suite.log 2>&1`, "sh", kubernetesBinary("conformance.test")],
          "-test.run",
          "TestConformance",
          "-test.v",
          "--gateway-class=gwc",
          ...suiteOptions(),
        ],
        { cwd: folder, env: { KUBECONFIG: api.kubeconfig } },
      );
      await suite.exited;
      writeFileSync(path.join(folder, "controller.log"), controller.output);
      expect(existsSync(report), `${folder} says why`).toBe(true);
    },
    PATIENCE,
  );
});

/** Commands that replace the images: our agent, and the suite's own server. */
function commandOf(image: string): readonly string[] | undefined {
  if (image === "gwc") return [process.execPath, path.join(root, "compiler", "gwc.mjs")];
  return image.includes("/echo-basic:") ? [kubernetesBinary("echo-basic")] : undefined;
}

function suiteOptions(): readonly string[] {
  const { GWC_CONFORMANCE_TEST: one, npm_package_version: version = "development" } = process.env;
  return [
    "--conformance-profiles=GATEWAY-HTTP,GATEWAY-GRPC,GATEWAY-TLS",
    // One that load balancers have, and one of documentation (RFC 5737) that none has.
    ...[`--usable-address=${STATIC_ADDRESSES}1`, "--unusable-address=192.0.2.1"],
    ...["--organization=gwc", "--project=gwc", "--url=https://gwc.dev", `--version=${version}`],
    ...["--contact=https://gwc.dev", `--report-output=${report}`],
    ...(one === undefined ? [] : [`--run-test=${one}`]),
  ];
}

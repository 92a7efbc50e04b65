import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";
import { startController } from "../harness/controller.ts";
import { eventually } from "../harness/eventually.ts";
import { KubernetesApi, kubernetesBinary, missingApiServer } from "../harness/kubernetes-api.ts";
import { ISOLATED, missingNetwork, NODE_ADDRESS, PodNetwork } from "../harness/pod-network.ts";
import { ProcessKubelet } from "../harness/process-kubelet.ts";
import { root } from "../harness/root.ts";
import { NOT_LONG } from "../harness/skip.ts";
import { TestProcess } from "../harness/test-process.ts";

/** A conformance suite of the Gateway API or one of its extensions: a Go test that tests a cluster. */
export interface ConformanceSuite {
  /** Name of its folder below `/tmp`. */
  readonly name: string;
  /** Its program. */
  readonly binary: string;
  readonly options: readonly string[];
  readonly controllerOptions?: readonly string[];
  /** Returns the commands that replace further images. */
  readonly commands?: (
    api: KubernetesApi,
  ) => Promise<(image: string) => readonly string[] | undefined>;
  /** Creates what the suite expects in a cluster. */
  readonly prepare?: (api: KubernetesApi) => Promise<void>;
}

/** A suite takes its time: an hour on a busy machine. */
export const PATIENCE = 3_600_000;

/** Set in the process that has a network of its own. */
const INSIDE = "GWC_POD_NETWORK";

/** Whether this process has a network of its own. */
export const isInside = process.env[INSIDE] === "1";

/** Programs that every suite needs. */
const PROGRAMS = ["kube-controller-manager", "kube-scheduler", "echo-basic"];

/** Why a suite cannot run; `undefined` if it can. */
export function missingSuite(...programs: readonly string[]): string | undefined {
  if (isInside) return "runs outside the network of pods";
  return NOT_LONG ?? missingApiServer([...PROGRAMS, ...programs]) ?? missingNetwork();
}

/** Reason to skip what runs in the network of pods that a suite starts. */
export const notInside: string | undefined = isInside
  ? undefined
  : "runs in the network of pods that its suite starts";

/** Folder of the report and the logs. */
function folderOf({ name }: ConformanceSuite): string {
  return path.join(tmpdir(), name);
}

/** Path of the report. */
export function reportOf(suite: ConformanceSuite): string {
  return path.join(folderOf(suite), "report.yaml");
}

/** A row of the report: a profile's tests. */
interface Counts {
  readonly failedTests?: readonly string[];
}

/** Runs a test file again in a network of its own; returns the names of the failed tests of the suite's report. */
export function failedTests(suite: ConformanceSuite, file: string): readonly string[] {
  const [command = "", ...parameters] = ISOLATED;
  const vitest = path.join(root, "node_modules", "vitest", "vitest.mjs");
  const own = [process.execPath, vitest, "run", path.relative(root, file)];
  const env = { ...process.env, [INSIDE]: "1" };
  rmSync(folderOf(suite), { recursive: true, force: true });
  spawnSync(command, [...parameters, ...own], { cwd: root, env, stdio: "inherit" });
  const { profiles } = parse(readFileSync(reportOf(suite), "utf8"));
  return profiles.flatMap(({ core, extended }: { core: Counts; extended?: Counts }) => [
    ...(core.failedTests ?? []),
    ...(extended?.failedTests ?? []),
  ]);
}

/** Runs a suite against a controller, whose data planes and other pods are processes. */
export async function runSuite(suite: ConformanceSuite): Promise<void> {
  const folder = folderOf(suite);
  mkdirSync(folder, { recursive: true });
  const network = new PodNetwork();
  const api = await KubernetesApi.start("pods");
  await suite.prepare?.(api);
  const controller = startController(
    api,
    ...["--image", "gwc", "--xds-port", "9978"],
    ...["--xds-address", `http://${NODE_ADDRESS}:9978`],
    ...(suite.controllerOptions ?? []),
  );
  const commands = await suiteCommands(suite, api);
  new ProcessKubelet(api, { network, commandOf: commands, logs: folder });
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
  const { GWC_CONFORMANCE_TEST: one, npm_package_version: version = "development" } = process.env;
  const running = new TestProcess(
    "sh",
    [
      // It takes long: what it says can be read meanwhile.
      ...["-c", `exec "$@" > suite.log 2>&1`, "sh", kubernetesBinary(suite.binary)],
      ...["-test.run", "TestConformance", "-test.v", "--gateway-class=gwc"],
      ...["--organization=gwc", "--project=gwc", "--url=https://gwc.dev", `--version=${version}`],
      ...["--contact=https://gwc.dev", `--report-output=${reportOf(suite)}`],
      ...(one === undefined ? [] : [`--run-test=${one}`]),
      ...suite.options,
    ],
    { cwd: folder, env: { KUBECONFIG: api.kubeconfig } },
  );
  await running.exited;
  writeFileSync(path.join(folder, "controller.log"), controller.output);
  expect(existsSync(reportOf(suite)), `${folder} says why`).toBe(true);
}

/** Returns the commands that replace images: our agent, the suites' own server, and those of the suite. */
async function suiteCommands(
  { commands }: ConformanceSuite,
  api: KubernetesApi,
): Promise<(image: string) => readonly string[] | undefined> {
  const others = await commands?.(api);
  return (image) => {
    if (image === "gwc") return [process.execPath, path.join(root, "compiler", "gwc.mjs")];
    if (image.includes("/echo-basic:")) return [kubernetesBinary("echo-basic")];
    return others?.(image);
  };
}

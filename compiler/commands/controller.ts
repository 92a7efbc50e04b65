import { Controller } from "../controller/controller.ts";
import { TOKEN_AUDIENCE } from "../controller/delivery/data-plane-identity.ts";
import {
  type DiscoveryCertificate,
  followCertificate,
  readCertificate,
} from "../controller/delivery/mounted-certificate.ts";
import { kubernetesAccess } from "../controller/kubernetes/access.ts";
import { ApiServer } from "../controller/kubernetes/api-server.ts";
import { LEASE_SECONDS } from "../controller/kubernetes/leader-election.ts";
import type { PodSettings } from "../controller/model/compile-files.ts";
import { exposition } from "../controller/operation/figures.ts";
import { openPages } from "../controller/operation/service-pages.ts";
import { Diagnostics } from "../diagnostics/diagnostic.ts";
import { labelSelector } from "../manifests/field-types.ts";
import type { LabelSelector } from "../manifests/manifests.ts";
import { listenProblem } from "../run/listen-problem.ts";
import { list } from "../schema/schema.ts";
import { validator } from "../schema/validate.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc controller`: reconciles the Gateways of a Kubernetes API server until a signal ends it. */
export const controller: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details:
    "Watches GatewayClasses, Gateways, routes, policies and the objects they refer to, compiles each Gateway as `gwc build` " +
    "does, sends the code to its data planes (`gwc agent`), and writes the result to the status of every object.\n" +
    "In a pod it uses the pod's service account.",
  options: [
    {
      name: "kubeconfig",
      value: "FILE",
      summary: "kubeconfig (default: the pod's service account, else KUBECONFIG)",
    },
    { name: "xds-port", value: "PORT", summary: "port for data planes (default: 9978)" },
    {
      name: "xds-tls",
      value: "DIR",
      summary: "folder with tls.crt, tls.key and ca.crt for that port (default: no TLS)",
    },
    {
      name: "health-port",
      value: "PORT",
      summary: "port of /healthz and /readyz (default: 9093)",
    },
    {
      name: "metrics-port",
      value: "PORT",
      summary: "port of /metrics (default: 9092)",
    },
    {
      name: "namespaces",
      value: "JSON",
      summary: "label selectors, as a JSON list: read only namespaces that match one",
    },
    {
      name: "admission",
      value: "NAME",
      summary:
        "ValidatingWebhookConfiguration by which the API server validates objects (default: no validation)",
    },
    {
      name: "admission-port",
      value: "PORT",
      summary: "port of the webhook, at /check (default: 9443)",
    },
    {
      name: "policies",
      value: "DIR",
      summary: "folder with modules of policies (NAME.ts) that GatewayPolicies may name",
    },
    { name: "inference-extension", summary: "also read InferencePools" },
    {
      name: "lease-seconds",
      value: "SECONDS",
      summary: `seconds until another replica replaces a leader that vanished (default: ${LEASE_SECONDS})`,
    },
    {
      name: "log-level",
      value: "LEVEL",
      choices: ["info", "warn", "error"],
      summary: "minimum level of log lines (default: info)",
    },
    {
      name: "image",
      value: "IMAGE",
      summary: "image of data planes; without it, no Deployments and Services are created",
    },
    {
      name: "image-pull-policy",
      value: "POLICY",
      choices: ["Always", "IfNotPresent", "Never"],
      summary: "pull policy of the image, unless GatewayParameters set one",
    },
    {
      name: "xds-address",
      value: "URL",
      summary: "URL of this controller for data planes (default: Service gwc of its namespace)",
    },
  ],
  examples: ["gwc controller", "gwc controller --kubeconfig ~/.kube/config"],
  work: control,
};

async function control(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const opened: (() => void)[] = [];
  try {
    return await follow(given, context, opened);
  } catch (error) {
    for (const close of opened) close();
    const isListening = error instanceof Error && "syscall" in error && error.syscall === "listen";
    if (!isListening) throw error;
    const port = "port" in error ? ` on port ${error.port}` : "";
    return { exitCode: 1, stderr: `error: cannot listen${port}: ${listenProblem(error)}\n` };
  }
}

async function follow(
  { options, flags }: Arguments,
  { host, print }: CommandContext,
  opened: (() => void)[],
): Promise<CommandResult> {
  const wrong = PORTS.find((name) => !/^\d{1,5}$/.test(options[name] ?? "0"));
  if (wrong !== undefined)
    return { exitCode: 2, stderr: `error: --${wrong} needs a port, not "${options[wrong]}"\n` };
  const namespaces = selectorsOf(options.namespaces ?? "[]");
  if (namespaces === undefined)
    return { exitCode: 2, stderr: "error: --namespaces needs a JSON list of label selectors\n" };
  const leaseSeconds = Number(options["lease-seconds"] ?? LEASE_SECONDS);
  if (!Number.isInteger(leaseSeconds) || leaseSeconds < SHORTEST_LEASE || leaseSeconds > 3600)
    return { exitCode: 2, stderr: "error: --lease-seconds needs a number from 3 to 3600\n" };
  const access = kubernetesAccess(host, options.kubeconfig);
  if ("problem" in access) {
    const hint = "hint: see --kubeconfig in `gwc controller --help`\n";
    return { exitCode: 1, stderr: `error: ${access.problem}\n${hint}` };
  }
  const folder = options["xds-tls"];
  const tls = folder === undefined ? undefined : readCertificate(folder);
  if (tls !== undefined && "problem" in tls)
    return { exitCode: 1, stderr: `error: ${folder}: ${tls.problem}\n` };
  const api = new ApiServer(access);
  opened.push(() => api.close());
  const least = LEVELS.indexOf(oneOf(LEVELS, options["log-level"], "info"));
  const log = (level: "info" | "warn", message: string) => {
    if (LEVELS.indexOf(level) >= least) print(`${new Date().toISOString()} ${level} ${message}\n`);
  };
  log("info", `watching ${access.server.origin}`);
  let running: Controller | undefined;
  const health = await openPages(portOf(options["health-port"], 9093), {
    "/healthz": () => ({ status: 200, text: "ok\n" }),
    "/readyz": () =>
      running === undefined ? { status: 503, text: "not ready\n" } : { status: 200, text: "ok\n" },
  });
  opened.push(() => health.close());
  const metrics = await openPages(portOf(options["metrics-port"], 9092), {
    "/metrics": () => ({ status: 200, text: exposition(running?.figures() ?? []) }),
  });
  opened.push(() => metrics.close());
  const controlling = await Controller.open({
    api,
    log,
    namespace: access.namespace,
    leaseSeconds,
    scope: { namespaces, hasInference: flags.has("inference-extension") },
    pods: options.image === undefined ? undefined : podsOf(options, access.namespace, tls),
    admission: options.admission === undefined ? undefined : admissionOf(options),
    policies: options.policies,
    discovery: { host: "::", port: portOf(options["xds-port"], 9978), tls },
  });
  running = controlling;
  const unfollow =
    folder === undefined || tls === undefined
      ? () => {}
      : followCertificate(folder, tls, {
          changed: (certificate) => controlling.useCertificate(certificate),
          warn: (message) => log("warn", message),
        });
  log("info", `ready; serving data planes on port ${controlling.discoveryPort}`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  log("info", "stopping");
  running = undefined;
  unfollow();
  await controlling.stop();
  for (const server of [health, metrics]) server.close().closeAllConnections();
  api.close();
  return { exitCode: 0 };
}

function podsOf(
  { image = "", "image-pull-policy": pullPolicy, "xds-address": given }: Arguments["options"],
  namespace: string,
  tls: DiscoveryCertificate | undefined,
): Omit<PodSettings, "signer"> {
  const scheme = tls === undefined ? "http" : "https";
  const address = given ?? `${scheme}://gwc.${namespace}.svc:9978`;
  return { image, pullPolicy, address, audience: TOKEN_AUDIENCE, authority: tls?.ca };
}

function admissionOf({ admission = "", "admission-port": port }: Arguments["options"]): {
  readonly configuration: string;
  readonly port: number;
} {
  return { configuration: admission, port: portOf(port, 9443) };
}

/** Minimum lease in seconds: a shorter one is lost whenever the API server is slow. */
const SHORTEST_LEASE = 3;
const PORTS = ["xds-port", "health-port", "metrics-port", "admission-port"];
const LEVELS = ["info", "warn", "error"] as const;

/** Parses label selectors; `undefined` if the JSON or a selector is invalid. */
function selectorsOf(text: string): readonly LabelSelector[] | undefined {
  const diagnostics = new Diagnostics();
  try {
    const value = JSON.parse(text);
    const read = { value, envTemplates: [], expanded: [] };
    const origin = { file: "--namespaces", document: 0, path: [] };
    const shape = list(labelSelector, { description: "Selectors of namespaces." });
    return validator(shape, [value], "--namespaces").whole(read, origin, diagnostics);
  } catch {
    return undefined;
  }
}

function portOf(given: string | undefined, fallback: number): number {
  return given === undefined ? fallback : Number(given);
}

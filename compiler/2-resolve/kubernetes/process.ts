import { readLevels, readLogging } from "../../1-parse/access-log.ts";
import { type ProcessConfig, readProcess } from "../../1-parse/process.ts";
import type { AccessLogConfig } from "../../access-log.ts";
import { below, type Diagnostics } from "../../diagnostics.ts";
import type { DeploymentNode, OverlaidResource, Overlay, ProcessSettings } from "../../ir.ts";
import type { LevelsConfig } from "../../log-levels.ts";
import type { ManifestOf } from "../../manifests.ts";
import type { ListenerResource } from "../../resources.ts";
import type { ParametersSpec } from "./parameters.ts";

/** When a pod is told to end: its listeners stay open (load balancers learn late), streams get until the maximum. */
const USUAL_SHUTDOWN: ProcessConfig = {
  connectionMinTerminationDeadline: "10s",
  connectionTerminationDeadline: "60s",
};

/** The process settings of a Gateway's pods: the raw configuration, under what the parameters' own fields say. */
export function processSettings(parameters: readonly ParametersSpec[]): ProcessSettings {
  const raw: ProcessConfig = Object.assign(
    {},
    USUAL_SHUTDOWN,
    ...parameters.map(({ rawConfig }) => rawConfig?.config ?? {}),
  );
  const { logFormat, drain, ...settings } = readProcess(raw);
  const logging = last(parameters, ({ logging: each }) => each?.format);
  const shutdown = last(parameters, (each) => each.shutdown);
  return {
    ...settings,
    logFormat: logging ?? logFormat,
    drain: shutdown === undefined ? drain : { min: shutdown.min * 1000, max: shutdown.max * 1000 },
  };
}

/** What is said of log levels: the raw configurations, under what the parameters' own fields say. */
export function logLevels(parameters: readonly ParametersSpec[]): readonly LevelsConfig[] {
  const raw = parameters.flatMap(({ rawConfig, origin }) =>
    readLevels(rawConfig?.config?.logging, below(origin, "spec", "rawConfig", "config", "logging")),
  );
  const typed = parameters.flatMap(({ logging, origin }) =>
    readLevels(logging, below(origin, "spec", "logging")),
  );
  return [...raw, ...typed];
}

/** What raw configurations say of the access log, the class's first. */
export function rawAccessLogs(parameters: readonly ParametersSpec[]): readonly AccessLogConfig[] {
  return parameters.map(({ rawConfig, origin }) => {
    const at = below(origin, "spec", "rawConfig", "config", "logging");
    return readLogging(rawConfig?.config?.logging ?? {}, at);
  });
}

/** How a cluster runs a Gateway. */
export function deploymentOf(
  gateway: ManifestOf<"Gateway">,
  parameters: readonly ParametersSpec[],
  listeners: readonly ListenerResource[],
  mounts: Readonly<Record<"secrets" | "configMaps", ReadonlySet<string>>>,
): DeploymentNode {
  const { gatewayClassName = "", infrastructure } = gateway.spec ?? {};
  const secrets = listeners.flatMap(({ tls }) =>
    tls?.isSecret === true ? [tls.cert.slice(0, tls.cert.lastIndexOf("/"))] : [],
  );
  const image = Object.assign({}, ...parameters.map((each) => each.image ?? {}));
  return {
    name: gateway.name,
    namespace: gateway.namespace,
    className: gatewayClassName,
    labels: infrastructure?.labels ?? {},
    annotations: infrastructure?.annotations ?? {},
    image: imageText(image),
    pullPolicy: image.pullPolicy,
    env: parameters.flatMap(({ env }) => env ?? []),
    resources: last(parameters, ({ resources }) => resources),
    secrets: [...new Set([...secrets, ...mounts.secrets])].toSorted(),
    configMaps: [...mounts.configMaps].toSorted(),
    overlays: {
      deployment: overlays(parameters, "deployment"),
      service: overlays(parameters, "service"),
      serviceAccount: overlays(parameters, "serviceAccount"),
      podDisruptionBudget: overlays(parameters, "podDisruptionBudget"),
      horizontalPodAutoscaler: overlays(parameters, "horizontalPodAutoscaler"),
    },
    origin: gateway.origin,
  };
}

function overlays(
  parameters: readonly ParametersSpec[],
  name: OverlaidResource,
): readonly Overlay[] {
  return parameters.flatMap((each) => each[name] ?? []);
}

/** Reports an overlay that lets the kubelet kill pods while they still drain. */
export function checkGrace(
  parameters: readonly ParametersSpec[],
  { drain }: ProcessSettings,
  diagnostics: Diagnostics,
): void {
  const path = ["template", "spec", "terminationGracePeriodSeconds"];
  for (const { deployment, origin } of parameters) {
    const seconds = path.reduce<unknown>(
      (value, step) =>
        typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined,
      deployment?.spec,
    );
    if (typeof seconds !== "number" || seconds * 1000 >= drain.max) continue;
    const at = below(origin, "spec", "deployment", "spec", ...path);
    diagnostics.report("grace-too-short", at, { seconds, needed: Math.ceil(drain.max / 1000) });
  }
}

function imageText({
  registry,
  repository,
  tag,
  digest,
}: NonNullable<ParametersSpec["image"]>): string | undefined {
  if (repository === undefined || repository === "") return undefined;
  const name = registry ? `${registry}/${repository}` : repository;
  return `${name}${tag ? `:${tag}` : ""}${digest ? `@${digest}` : ""}`;
}

function last<Value>(
  parameters: readonly ParametersSpec[],
  read: (each: ParametersSpec) => Value | undefined,
): Value | undefined {
  return parameters.map(read).findLast((value) => value !== undefined);
}

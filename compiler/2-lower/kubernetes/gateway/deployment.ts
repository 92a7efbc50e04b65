import { createHash } from "node:crypto";
import type { ListenerResource } from "../../../config/resources.ts";
import { childOf, type Diagnostics } from "../../../diagnostics/diagnostic.ts";
import type { DeploymentNode } from "../../../ir/deployment.ts";
import type { ProcessNode } from "../../../ir/program.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";
import { type Json, jsonAt } from "../../../model/json.ts";
import { imageOf, imageText, namedImages } from "./images.ts";
import { podPowers } from "./overlay-powers.ts";
import { containersOf, overlaysOf, workloadField } from "./overlays.ts";
import type { ParametersSpec } from "./parameters.ts";
import { lastOf } from "./process.ts";
import { workloadApiPowers, workloadApiSocket } from "./workload-api.ts";

/** Returns how a cluster runs a Gateway. */
export function deploymentOf(
  gateway: ManifestOf<"Gateway">,
  parameters: readonly ParametersSpec[],
  listeners: readonly ListenerResource[],
  mounts: Readonly<Record<"secrets" | "configMaps", ReadonlySet<string>>>,
  loadBalancerAddresses: readonly string[],
): DeploymentNode {
  const { gatewayClassName = "", infrastructure } = gateway.spec ?? {};
  const secrets = listeners.flatMap(({ tls }) => {
    const { certificate } = tls ?? {};
    if (certificate === undefined || "kind" in certificate || certificate.isSecret !== true)
      return [];
    return [certificate.cert.slice(0, certificate.cert.lastIndexOf("/"))];
  });
  const image = imageOf(parameters);
  return {
    name: resourceName(gateway.name),
    namespace: gateway.namespace,
    className: gatewayClassName,
    workload: workloadField(parameters) === "daemonSet" ? "DaemonSet" : "Deployment",
    labels: infrastructure?.labels ?? {},
    annotations: infrastructure?.annotations ?? {},
    loadBalancerAddresses,
    image: imageText(image),
    pullPolicy: image.pullPolicy,
    namedImages: namedImages(parameters),
    podPowers: [...podPowers(parameters), ...workloadApiPowers(parameters)],
    socket: workloadApiSocket(parameters),
    env: envOf(parameters),
    resources: lastOf(parameters, ({ resources }) => resources),
    secrets: [...new Set([...secrets, ...mounts.secrets])].toSorted(),
    configMaps: [...mounts.configMaps].toSorted(),
    overlays: {
      deployment: overlaysOf(parameters, "deployment"),
      daemonSet: overlaysOf(parameters, "daemonSet"),
      service: overlaysOf(parameters, "service"),
      serviceAccount: overlaysOf(parameters, "serviceAccount"),
      podDisruptionBudget: overlaysOf(parameters, "podDisruptionBudget"),
      horizontalPodAutoscaler: overlaysOf(parameters, "horizontalPodAutoscaler"),
    },
    origin: gateway.origin,
  };
}

/** Reports settings with which the kubelet kills pods that are still draining. */
export function checkGrace(
  parameters: readonly ParametersSpec[],
  { drain }: ProcessNode,
  diagnostics: Diagnostics,
): void {
  const path = ["template", "spec", "terminationGracePeriodSeconds"];
  const defaults = Math.ceil(drain.max / 1000) + KILL_MARGIN;
  const field = workloadField(parameters);
  for (const { [field]: workload, env = [], origin } of parameters) {
    const seconds = jsonAt(workload?.spec, ...path);
    if (typeof seconds === "number" && seconds * 1000 < drain.max) {
      const at = childOf(origin, "spec", field, "spec", ...path);
      diagnostics.report("grace-too-short", at, { seconds, needed: Math.ceil(drain.max / 1000) });
    }
    const grace = typeof seconds === "number" ? seconds : defaults;
    const index = env.findIndex((each) => jsonAt(each, "name") === GRACE_VARIABLE);
    const deadline = Number(jsonAt(env[index], "value"));
    if (!(deadline > grace)) continue;
    const at = childOf(origin, "spec", "env", index, "value");
    diagnostics.report("grace-too-short", at, { seconds: grace, needed: deadline - KILL_MARGIN });
  }
}

/** Reports an audit log outside of a volume: a pod's own file system is read-only, unless an overlay changes that. */
export function checkAuditFile(
  parameters: readonly ParametersSpec[],
  { audit }: ProcessNode,
  diagnostics: Diagnostics,
): void {
  const path = ["config", "logging", "audit", "file"];
  const of = parameters.findLast(({ rawConfig }) => rawConfig?.config?.logging?.audit?.file);
  if (audit?.file === undefined || of === undefined) return;
  const { file } = audit;
  const field = workloadField(parameters);
  const containers = parameters.flatMap(({ [field]: workload }) =>
    containersOf(workload?.spec ?? null),
  );
  const isReadOnly = !containers.some(
    (each) => jsonAt(each, "securityContext", "readOnlyRootFilesystem") === false,
  );
  const mounts = containers.map((each) => jsonAt(each, "volumeMounts")).filter(Array.isArray);
  const folders = ["/tmp", ...mounts.flat().map((each) => jsonAt(each, "mountPath"))];
  const isMounted = folders.some(
    (folder) => typeof folder === "string" && file.startsWith(`${folder.replace(/\/$/, "")}/`),
  );
  if (!isReadOnly || isMounted) return;
  const at = childOf(of.origin, "spec", "rawConfig", ...path);
  diagnostics.report("audit-file-read-only", at, { file });
}

/** Variable with the pod's grace period, for the gateway. */
const GRACE_VARIABLE = "TERMINATION_GRACE_PERIOD_SECONDS";
/** Seconds between the end of draining and the end of the pod's grace period. */
const KILL_MARGIN = 5;

/** Returns the variables; those of the Gateway override those of its class. */
function envOf(parameters: readonly ParametersSpec[]): readonly Json[] {
  const all = parameters.flatMap(({ env }) => env ?? []);
  return [...new Map(all.map((each) => [jsonAt(each, "name"), each])).values()];
}

/** Returns a name within the limit of labels and Services; a longer name is truncated and made unique by a digest. */
function resourceName(name: string): string {
  if (name.length <= 63) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, 50)}-${digest}`;
}

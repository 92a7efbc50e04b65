import type { DeploymentNode, OverlaidResource } from "../../compiler/ir/deployment.ts";
import type { Program } from "../../compiler/ir/program.ts";
import type { Json } from "../../compiler/model/json.ts";
import { clientPorts } from "../modules/client-ports.ts";
import { selectorLabels, withOwnLabels } from "./names.ts";
import { podTemplate } from "./pod.ts";
import type { KubernetesSettings } from "./settings.ts";
import { isObject, strategicMerge } from "./strategic-merge.ts";

/** A Kubernetes resource. */
export interface KubernetesResource {
  /** File name without extension: `deployment`. */
  readonly file: string;
  readonly value: Json;
}

/** Returns all resources that run a gateway in a cluster. */
export function kubernetesResources(
  program: Program,
  deployment: DeploymentNode,
  settings: KubernetesSettings,
): readonly KubernetesResource[] {
  // The image in the parameters of a Gateway has precedence over that of the controller.
  const image =
    settings.agent === undefined
      ? (settings.image ?? deployment.image)
      : (deployment.image ?? settings.image);
  const made = { ...settings, image };
  const all: readonly (KubernetesResource | undefined)[] = [
    resource("serviceAccount", deployment, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: metadata(deployment),
      automountServiceAccountToken: false,
    }),
    image === undefined
      ? { file: "config-map", value: bundleMap(deployment, settings) }
      : undefined,
    settings.agent?.authority === undefined
      ? undefined
      : { file: "xds-ca", value: authorityMap(deployment, settings.agent.authority) },
    resource(deployment.workload === "DaemonSet" ? "daemonSet" : "deployment", deployment, {
      apiVersion: "apps/v1",
      kind: deployment.workload,
      metadata: metadata(deployment),
      spec: {
        ...(hasOwnCount(deployment) ? { replicas: 1 } : {}),
        selector: { matchLabels: selectorLabels(deployment) },
        template: podTemplate(program, deployment, made),
      },
    }),
    // The API server rejects a Service without ports, which happens if no listener can be served.
    program.binds.length + program.tcp.length === 0
      ? undefined
      : resource("service", deployment, service(program, deployment)),
    whenOverlaid("podDisruptionBudget", deployment, {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: metadata(deployment),
      spec: { selector: { matchLabels: selectorLabels(deployment) } },
    }),
    whenOverlaid("horizontalPodAutoscaler", deployment, {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: metadata(deployment),
      spec: {
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: deployment.name,
        },
      },
    }),
  ];
  return all.filter((each) => each !== undefined);
}

/** Whether the workload has a number of pods of its own: not if nodes or an autoscaler determine it. */
function hasOwnCount({ workload, overlays }: DeploymentNode): boolean {
  return workload === "Deployment" && overlays.horizontalPodAutoscaler.length === 0;
}

/** Returns the metadata of all generated resources. */
function metadata(deployment: DeploymentNode): { readonly [key: string]: Json } {
  return {
    name: deployment.name,
    namespace: deployment.namespace,
    labels: withOwnLabels(deployment.labels, {
      ...selectorLabels(deployment),
      "app.kubernetes.io/managed-by": "gwc",
      "gateway.networking.k8s.io/gateway-class-name": deployment.className,
    }),
    ...(Object.keys(deployment.annotations).length === 0
      ? {}
      : { annotations: deployment.annotations }),
  };
}

function service(program: Program, deployment: DeploymentNode): Json {
  const { loadBalancerAddresses: addresses } = deployment;
  const [address] = addresses;
  const ports = clientPorts(program).map((port) => ({
    name: `listener-${port}`,
    port,
    targetPort: port,
    protocol: "TCP",
  }));
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadata(addresses.length < 2 ? deployment : withAddresses(deployment)),
    spec: {
      type: "LoadBalancer",
      ...(addresses.length === 1 && address !== undefined ? { loadBalancerIP: address } : {}),
      ...(hasBothFamilies(addresses) ? { ipFamilyPolicy: "PreferDualStack" } : {}),
      selector: selectorLabels(deployment),
      ports,
    },
  };
}

/**
 * Returns how a Service requests its addresses. `loadBalancerIP` has room for one. Load balancers that support
 * several have annotations of their own, and MetalLB rejects a Service with both.
 */
function withAddresses(deployment: DeploymentNode): DeploymentNode {
  const value = deployment.loadBalancerAddresses.join(",");
  const asked = Object.fromEntries(ADDRESS_ANNOTATIONS.map((name) => [name, value]));
  return { ...deployment, annotations: { ...asked, ...deployment.annotations } };
}

/** Returns whether there are addresses of both IPv4 and IPv6. */
function hasBothFamilies(addresses: readonly string[]): boolean {
  return new Set(addresses.map((each) => each.includes(":"))).size === 2;
}

/** Annotations of MetalLB, Cilium and kube-vip. */
const ADDRESS_ANNOTATIONS: readonly string[] = [
  "metallb.io/loadBalancerIPs",
  "lbipam.cilium.io/ips",
  "kube-vip.io/loadbalancerIPs",
];

function bundleMap(deployment: DeploymentNode, { bundle }: KubernetesSettings): Json {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata(deployment), name: `${deployment.name}-bundle` },
    binaryData: { "gateway.mjs.gz": bundle ?? "" },
  };
}

function authorityMap(deployment: DeploymentNode, authority: string): Json {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata(deployment), name: `${deployment.name}-xds-ca` },
    data: { "ca.crt": authority },
  };
}

const FILES: Readonly<Record<OverlaidResource, string>> = {
  deployment: "deployment",
  daemonSet: "daemon-set",
  service: "service",
  serviceAccount: "service-account",
  podDisruptionBudget: "pod-disruption-budget",
  horizontalPodAutoscaler: "horizontal-pod-autoscaler",
};

/** Merges overlays into a resource, those of the class first. */
function resource(
  kind: OverlaidResource,
  { overlays }: DeploymentNode,
  base: Json,
): KubernetesResource {
  const value = overlays[kind].reduce<Json>((merged, { metadata: meta, spec }) => {
    const patch: Json = {
      ...(meta === undefined ? {} : { metadata: { ...meta } }),
      ...(spec === undefined ? {} : { spec: kind === "podDisruptionBudget" ? budget(spec) : spec }),
    };
    return strategicMerge(merged, patch) ?? merged;
  }, base);
  return { file: FILES[kind], value };
}

/** Replaces the selector of a budget whatever its patch says (policy/v1, `patchStrategy`). */
function budget(spec: Json): Json {
  if (!isObject(spec) || !isObject(spec.selector)) return spec;
  return { ...spec, selector: { $patch: "replace", ...spec.selector } };
}

/** Resources that are created only on request. */
function whenOverlaid(
  kind: OverlaidResource,
  deployment: DeploymentNode,
  base: Json,
): KubernetesResource | undefined {
  return deployment.overlays[kind].length === 0 ? undefined : resource(kind, deployment, base);
}

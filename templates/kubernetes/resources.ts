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
  /** `deployment`: the name of its file. */
  readonly file: string;
  readonly value: Json;
}

/** Everything that runs a gateway in a cluster. */
export function kubernetesResources(
  program: Program,
  deployment: DeploymentNode,
  settings: KubernetesSettings,
): readonly KubernetesResource[] {
  // What runs agents is chosen by the parameters of a Gateway before it is by the controller.
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
    resource("deployment", deployment, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: metadata(deployment),
      spec: {
        // The autoscaler's decision, when there is one.
        ...(deployment.overlays.horizontalPodAutoscaler.length === 0 ? { replicas: 1 } : {}),
        selector: { matchLabels: selectorLabels(deployment) },
        template: podTemplate(program, deployment, made),
      },
    }),
    // The API server takes no Service without ports: none of the listeners can be served now.
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

/** The metadata of everything that is generated. */
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
 * `loadBalancerIP` has room for one address. Load balancers that give a Service several are asked by annotations of their own,
 * and MetalLB refuses a Service that has both.
 */
function withAddresses(deployment: DeploymentNode): DeploymentNode {
  const value = deployment.loadBalancerAddresses.join(",");
  const asked = Object.fromEntries(ADDRESS_ANNOTATIONS.map((name) => [name, value]));
  return { ...deployment, annotations: { ...asked, ...deployment.annotations } };
}

/** Whether there are addresses of IPv4 and of IPv6. */
function hasBothFamilies(addresses: readonly string[]): boolean {
  return new Set(addresses.map((each) => each.includes(":"))).size === 2;
}

/** MetalLB, Cilium and kube-vip. */
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
  service: "service",
  serviceAccount: "service-account",
  podDisruptionBudget: "pod-disruption-budget",
  horizontalPodAutoscaler: "horizontal-pod-autoscaler",
};

/** A resource with its overlays, the class's first. */
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

/** The selector of a budget is replaced, whatever its patch says (policy/v1, `patchStrategy`). */
function budget(spec: Json): Json {
  if (!isObject(spec) || !isObject(spec.selector)) return spec;
  return { ...spec, selector: { $patch: "replace", ...spec.selector } };
}

/** Made only when asked for. */
function whenOverlaid(
  kind: OverlaidResource,
  deployment: DeploymentNode,
  base: Json,
): KubernetesResource | undefined {
  return deployment.overlays[kind].length === 0 ? undefined : resource(kind, deployment, base);
}

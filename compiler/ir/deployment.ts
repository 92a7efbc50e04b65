import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Json } from "../model/json.ts";

/** Maximum total size in bytes of the entries of a ConfigMap (MaxSecretSize of Kubernetes' apimachinery). */
export const MAX_IN_CONFIG_MAP = 1_048_576;

/** Deployment of a gateway in a cluster. */
export interface DeploymentNode {
  readonly name: string;
  readonly namespace: string;
  readonly className: string;
  /** Kind of the resource that runs its pods. */
  readonly workload: "Deployment" | "DaemonSet";
  /** Labels and annotations of all generated resources. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** IP addresses that are requested from the load balancer; empty for any. */
  readonly loadBalancerAddresses: readonly string[];
  /** Image in the parameters; `undefined` if there is none. */
  readonly image: string | undefined;
  readonly pullPolicy: string | undefined;
  /** All images in the parameters that pods run, with their places. */
  readonly namedImages: readonly NamedImage[];
  /** Permissions in the parameters beyond those that a gateway needs. */
  readonly podPowers: readonly PodPower[];
  /** Socket of a server on the node, the SPIFFE Workload API; absent if there is none. */
  readonly socket?: PodSocket | undefined;
  /** Environment and compute resources of the container, in the form of Kubernetes. */
  readonly env: readonly Json[];
  readonly resources: Json | undefined;
  /** Names of mounted Secrets, sorted. */
  readonly secrets: readonly string[];
  /** Names of mounted ConfigMaps, sorted. */
  readonly configMaps: readonly string[];
  /** Overlays by the resource that they change, in the order in which they are applied. */
  readonly overlays: Readonly<Record<OverlaidResource, readonly Overlay[]>>;
  readonly origin: Origin;
}

/** An image reference, and its place in the configuration. */
export interface NamedImage {
  readonly image: string;
  readonly origin: Origin;
}

/** A permission that the parameters give to pods, such as "files of its node (hostPath)", and its place. */
export interface PodPower {
  readonly what: string;
  readonly origin: Origin;
}

/** A folder with a socket that is mounted into pods. */
export interface PodSocket {
  readonly mountPath: string;
  /** A CSI driver, or a folder of the node. */
  readonly source:
    | { readonly kind: "csi"; readonly driver: string }
    | { readonly kind: "hostPath"; readonly path: string };
}

/** Resources that overlays can change. */
export type OverlaidResource =
  | "deployment"
  | "daemonSet"
  | "service"
  | "serviceAccount"
  | "podDisruptionBudget"
  | "horizontalPodAutoscaler";

/** A part of a Kubernetes resource that is merged into the generated one. */
export interface Overlay {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string | null>>;
    readonly annotations?: Readonly<Record<string, string | null>>;
  };
  readonly spec?: Json;
}

import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Json } from "../model/json.ts";

/** Kubernetes (apimachinery, MaxSecretSize): the bytes that the entries of a ConfigMap may have together. */
export const MAX_IN_CONFIG_MAP = 1_048_576;

/** How a cluster runs a gateway. */
export interface DeploymentNode {
  readonly name: string;
  readonly namespace: string;
  readonly className: string;
  /** Labels and annotations of everything that is generated. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The IP addresses that the load balancer is asked for; empty for any. */
  readonly loadBalancerAddresses: readonly string[];
  /** The image of the parameters; undefined: they name none. */
  readonly image: string | undefined;
  readonly pullPolicy: string | undefined;
  /** Every image that the parameters name and pods run, with where it is named. */
  readonly namedImages: readonly NamedImage[];
  /** What the parameters give pods beyond what a gateway needs. */
  readonly podPowers: readonly PodPower[];
  /** Environment and compute resources of the container, as Kubernetes has them. */
  readonly env: readonly Json[];
  readonly resources: Json | undefined;
  /** Names of the Secrets that are mounted, sorted. */
  readonly secrets: readonly string[];
  /** Names of the ConfigMaps that are mounted, sorted. */
  readonly configMaps: readonly string[];
  /** Overlays by what they change, in the order in which they are laid on. */
  readonly overlays: Readonly<Record<OverlaidResource, readonly Overlay[]>>;
  readonly origin: Origin;
}

/** An image as Kubernetes and container runtimes take it, and where the configuration names it. */
export interface NamedImage {
  readonly image: string;
  readonly origin: Origin;
}

/** A right that pods get by the parameters, such as "files of its node (hostPath)", and where they say so. */
export interface PodPower {
  readonly what: string;
  readonly origin: Origin;
}

/** What overlays can change. */
export type OverlaidResource =
  | "deployment"
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

import type { ConfigPath, Origin } from "../diagnostics/diagnostic.ts";
import type { SecretContents } from "../model/secret-contents.ts";
import type { Infer, Schema } from "../schema/schema.ts";
import type { gatewayBackendSchema } from "./backend.ts";
import type { endpointSliceSchema, referenceGrantSchema, serviceSchema } from "./core.ts";
import type { labelSelector } from "./field-types.ts";
import type {
  backendTlsPolicySchema,
  gatewayClassSchema,
  gatewaySchema,
  listenerSetSchema,
} from "./gateway.ts";
import type { InferencePoolSpec } from "./inference.ts";
import type { gatewayModelSchema } from "./model.ts";
import type { parametersSchema } from "./parameters.ts";
import type { policySchema } from "./policy.ts";
import type { grpcRouteSchema, httpRouteSchema, tcpRouteSchema, tlsRouteSchema } from "./routes.ts";

/**
 * A Kubernetes resource as declared: validated, with canonical spellings, and with references that are still names. The
 * order of documents in an input has no meaning.
 */
export type Manifest = ManifestOf<ManifestKind>;

/** Names of the kinds that gwc reads. */
export type ManifestKind = keyof ManifestSpecs;

/** A resource of one of the kinds. */
export type ManifestOf<Kind extends ManifestKind> = { [Each in Kind]: ManifestShape<Each> }[Kind];

interface ManifestShape<Kind extends ManifestKind> {
  readonly kind: Kind;
  /** Empty for kinds without a namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Ports of its listeners that only routes of the gateway are to reach, by its annotation `internal-ports`. */
  readonly internalPorts: readonly number[];
  /** RFC 3339; empty if unknown: the resource then counts as the youngest. */
  readonly created: string;
  /** `undefined` if its document has (reported) mistakes: references to it are valid, but its content is unknown. */
  readonly spec: ManifestSpecs[Kind] | undefined;
  /** Whether parts of its document were removed because of (reported) mistakes. */
  readonly isPartial: boolean;
  /** Paths of those parts. */
  readonly broken: readonly ConfigPath[];
  /** Possible targets of a policy whose `spec` is unreadable; otherwise absent. */
  readonly possibleTargets?: readonly PossibleTarget[];
  readonly origin: Origin;
}

/** A target of a policy with mistakes, in its namespace; an absent field may have any value. */
export interface PossibleTarget {
  readonly kind?: ManifestKind;
  readonly name?: string;
}

/** The part that is read of each kind: `spec`, or the whole document for kinds without one. */
export interface ManifestSpecs {
  readonly GatewayClass: GatewayClassSpec;
  readonly Gateway: GatewaySpec;
  readonly ListenerSet: ListenerSetSpec;
  readonly HTTPRoute: SpecOf<ReturnType<typeof httpRouteSchema>>;
  readonly GRPCRoute: SpecOf<ReturnType<typeof grpcRouteSchema>>;
  readonly TCPRoute: SpecOf<typeof tcpRouteSchema>;
  readonly TLSRoute: SpecOf<typeof tlsRouteSchema>;
  readonly ReferenceGrant: GrantSpec;
  readonly BackendTLSPolicy: BackendTlsSpec;
  readonly Service: ServiceSpec;
  readonly EndpointSlice: EndpointSliceSpec;
  readonly Namespace: object;
  readonly Secret: KeyedData;
  readonly ConfigMap: ConfigMapData;
  readonly InferencePool: InferencePoolSpec;
  readonly GatewayBackend: BackendSpec;
  readonly GatewayModel: ModelSpec;
  readonly GatewayPolicy: PolicySpec;
  readonly GatewayParameters: ParametersValue;
}

/** The kinds of routes. */
export type RouteKind = "HTTPRoute" | "GRPCRoute" | "TCPRoute" | "TLSRoute";

/** The kinds that attach to listeners. */
export type AttachedKind = RouteKind | "GatewayModel";

/** Type of a valid `spec`. */
type SpecOf<Of extends Schema> = Infer<Of> extends { readonly spec: infer Spec } ? Spec : never;

/** A GatewayClass. */
export type GatewayClassSpec = SpecOf<typeof gatewayClassSchema>;

/** A Gateway. */
export type GatewaySpec = SpecOf<typeof gatewaySchema>;

/** A listener of a Gateway or ListenerSet. */
export type ListenerSpec = NonNullable<GatewaySpec["listeners"][number]>;

/** Namespaces from which resources may attach. */
export interface NamespaceRule {
  readonly from?: "All" | "Selector" | "Same" | "None";
  readonly selector?: LabelSelector;
}

/** metav1.LabelSelector */
export type LabelSelector = Infer<typeof labelSelector>;

/** A ListenerSet. */
export type ListenerSetSpec = SpecOf<typeof listenerSetSchema>;

/** A GatewayParameters. */
export type ParametersValue = SpecOf<typeof parametersSchema>;

/** A reference that may lead to another namespace. */
export interface ObjectReference {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  readonly namespace?: string;
}

/** Content of a ReferenceGrant. */
export type GrantSpec = SpecOf<typeof referenceGrantSchema>;

/** A Service, as far as gwc reads it. */
export type ServiceSpec = SpecOf<typeof serviceSchema>;

/** A port of a Service. */
export type ServicePort = NonNullable<ServiceSpec["ports"]>[number];

/** Addresses behind a Service. */
export type EndpointSliceSpec = Infer<typeof endpointSliceSchema>;

/** Keys of a Secret or ConfigMap. The values of a Secret are checked and dropped when it is read. */
export interface KeyedData {
  /** Names of entries. A controller only keeps those that something reads by name. */
  readonly keys: readonly string[];
  readonly contents: SecretContents;
  /** `false` for a stub that only declares that the object exists: its keys are not known. */
  readonly isComplete: boolean;
}

/** A ConfigMap, with its entries that are strings. */
export interface ConfigMapData extends KeyedData {
  readonly texts: Readonly<Record<string, string>>;
}

/** A GatewayBackend: its kind is the field that is set. */
export type BackendSpec = SpecOf<ReturnType<typeof gatewayBackendSchema>>;

/** A GatewayModel. */
export type ModelSpec = SpecOf<ReturnType<typeof gatewayModelSchema>>;

/** A GatewayPolicy. */
export type PolicySpec = SpecOf<ReturnType<typeof policySchema>>;

/** A BackendTLSPolicy. */
export type BackendTlsSpec = SpecOf<typeof backendTlsPolicySchema>;

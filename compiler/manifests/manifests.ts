import type { ConfigPath, Origin } from "../diagnostics/diagnostic.ts";
import type { SecretProblems } from "../model/secret-contents.ts";
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
import type { parametersSchema } from "./parameters.ts";
import type { policySchema } from "./policy.ts";
import type { grpcRouteSchema, httpRouteSchema, tcpRouteSchema, tlsRouteSchema } from "./routes.ts";

/**
 * A Kubernetes resource as declared: its shape checked, spellings and aliases gone, every reference still a name. The
 * documents of an input in any order mean the same.
 */
export type Manifest = ManifestOf<ManifestKind>;

/** The kinds that gwc reads, under one name each. */
export type ManifestKind = keyof ManifestSpecs;

/** A resource of one of the kinds. */
export type ManifestOf<Kind extends ManifestKind> = { [Each in Kind]: ManifestShape<Each> }[Kind];

interface ManifestShape<Kind extends ManifestKind> {
  readonly kind: Kind;
  /** Empty for kinds that belong to no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** RFC 3339; empty when it does not say: such a resource counts as youngest. */
  readonly created: string;
  /** Undefined: its document has mistakes (reported); references to it are good, but nothing is known of it. */
  readonly spec: ManifestSpecs[Kind] | undefined;
  /** Parts of its document with mistakes (reported) were left out. */
  readonly isPartial: boolean;
  /** Where those parts stood. */
  readonly broken: readonly ConfigPath[];
  readonly origin: Origin;
}

/** What is read of each kind: `spec`, or the whole document where there is none. */
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
  readonly GatewayPolicy: PolicySpec;
  readonly GatewayParameters: ParametersValue;
}

/** The kinds of routes. */
export type RouteKind = "HTTPRoute" | "GRPCRoute" | "TCPRoute" | "TLSRoute";

/** The `spec` that a kind's schema lets through. */
type SpecOf<Of extends Schema> = Infer<Of> extends { readonly spec: infer Spec } ? Spec : never;

/** A GatewayClass. */
export type GatewayClassSpec = SpecOf<typeof gatewayClassSchema>;

/** A Gateway. */
export type GatewaySpec = SpecOf<typeof gatewaySchema>;

/** A listener of a Gateway or ListenerSet. */
export type ListenerSpec = NonNullable<GatewaySpec["listeners"][number]>;

/** From which namespaces something may attach. */
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

/** A reference that may lead into another namespace. */
export interface ObjectReference {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  readonly namespace?: string;
}

/** What a ReferenceGrant allows. */
export type GrantSpec = SpecOf<typeof referenceGrantSchema>;

/** A Service, as far as it is read. */
export type ServiceSpec = SpecOf<typeof serviceSchema>;

/** A port of a Service. */
export type ServicePort = NonNullable<ServiceSpec["ports"]>[number];

/** Addresses behind a Service. */
export type EndpointSliceSpec = Infer<typeof endpointSliceSchema>;

/** The keys of a Secret or ConfigMap. A Secret's values are judged and dropped when it is read. */
export interface KeyedData {
  readonly keys: readonly string[];
  /** What is wrong with the values that are known. */
  readonly problems: SecretProblems;
  /** False for a stub that only says the object exists: its keys are not known. */
  readonly isComplete: boolean;
}

/** A ConfigMap, with its entries that are texts. */
export interface ConfigMapData extends KeyedData {
  readonly texts: Readonly<Record<string, string>>;
}

/** A GatewayBackend: the value of its kind stands under the kind's field. */
export type BackendSpec = SpecOf<ReturnType<typeof gatewayBackendSchema>>;

/** A GatewayPolicy. */
export type PolicySpec = SpecOf<ReturnType<typeof policySchema>>;

/** A BackendTLSPolicy. */
export type BackendTlsSpec = SpecOf<typeof backendTlsPolicySchema>;

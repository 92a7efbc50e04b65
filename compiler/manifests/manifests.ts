import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Infer, Schema } from "../schema/schema.ts";
import type { endpointSliceSchema, referenceGrantSchema, serviceSchema } from "./core.ts";
import type { labelSelector } from "./field-types.ts";
import type {
  backendTlsPolicySchema,
  gatewayClassSchema,
  gatewaySchema,
  listenerSetSchema,
} from "./gateway.ts";
import type { parametersSchema } from "./parameters.ts";

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
  readonly origin: Origin;
}

/** What is read of each kind: `spec`, or the whole document where there is none. */
export interface ManifestSpecs {
  readonly GatewayClass: GatewayClassSpec;
  readonly Gateway: GatewaySpec;
  readonly ListenerSet: ListenerSetSpec;
  readonly HTTPRoute: HttpRouteSpec;
  readonly GRPCRoute: RouteSpec;
  readonly TCPRoute: RouteSpec;
  readonly TLSRoute: RouteSpec;
  readonly ReferenceGrant: GrantSpec;
  readonly BackendTLSPolicy: BackendTlsSpec;
  readonly Service: ServiceSpec;
  readonly EndpointSlice: EndpointSliceSpec;
  readonly Namespace: object;
  readonly Secret: KeyedData;
  readonly ConfigMap: KeyedData;
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
export type ListenerSpec = GatewaySpec["listeners"][number];

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

/** A reference within the namespace. */
export interface LocalReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** Gateway API `ParentReference`. */
export interface ParentReference extends ObjectReference {
  readonly sectionName?: string;
  readonly port?: number;
}

/** A reference to a Service or a GatewayBackend. */
export interface BackendReference extends ObjectReference {
  readonly port?: number;
  readonly weight?: number;
}

/** What every kind of route has. */
export interface RouteSpec {
  readonly parentRefs?: readonly ParentReference[];
  readonly hostnames?: readonly string[];
  readonly rules?: readonly {
    readonly name?: string;
    readonly backendRefs?: readonly BackendReference[];
  }[];
}

/** What of an HTTPRoute matters. */
export interface HttpRouteSpec extends RouteSpec {
  readonly rules?: readonly HttpRouteRule[];
}

/** A rule of an HTTPRoute. */
export interface HttpRouteRule {
  readonly name?: string;
  readonly matches?: readonly HttpRouteMatch[];
  readonly filters?: readonly PolicyFields[];
  readonly backendRefs?: readonly BackendReference[];
}

/** Gateway API `HTTPRouteMatch`. */
export interface HttpRouteMatch {
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly method?: string;
  readonly headers?: readonly HttpValueMatch[];
  readonly queryParams?: readonly HttpValueMatch[];
}

/** Gateway API `HTTPHeaderMatch`, `HTTPQueryParamMatch`. */
export interface HttpValueMatch {
  readonly type?: "Exact" | "RegularExpression";
  readonly name: string;
  readonly value: string;
}

/** What a ReferenceGrant allows. */
export type GrantSpec = SpecOf<typeof referenceGrantSchema>;

/** A Service, as far as it is read. */
export type ServiceSpec = SpecOf<typeof serviceSchema>;

/** A port of a Service. */
export type ServicePort = NonNullable<ServiceSpec["ports"]>[number];

/** Addresses behind a Service. */
export type EndpointSliceSpec = Infer<typeof endpointSliceSchema>;

/** The keys of a Secret or ConfigMap. A Secret's values are dropped when it is read. */
export interface KeyedData {
  readonly keys: readonly string[];
  /** False for a stub that only says the object exists: its keys are not known. */
  readonly isComplete: boolean;
}

/** A GatewayBackend. */
export interface BackendSpec {
  readonly static?: { readonly host: string; readonly port: number };
  readonly mcp?: McpBackendSpec;
  readonly ai?: {
    readonly groups?: readonly { readonly providers: readonly { readonly name: string }[] }[];
  };
  readonly dynamicForwardProxy?: {
    readonly port?: number;
    readonly allowPrivate?: readonly string[];
  };
  readonly policies?: PolicyFields;
}

/** The MCP servers of a GatewayBackend. */
export interface McpBackendSpec {
  readonly targets: readonly McpTargetSpec[];
  readonly sessionRouting?: "Stateful" | "Stateless";
  readonly failureMode?: "FailClosed" | "FailOpen";
  readonly sessions?: {
    readonly idleTimeout?: string;
    readonly max?: number;
    readonly maxPerCaller?: number;
  };
}

/** One MCP server, or a selection of Services. */
export interface McpTargetSpec {
  readonly name: string;
  readonly static?: {
    readonly host: string;
    readonly port: number;
    readonly path?: string;
    readonly protocol?: "StreamableHTTP" | "SSE";
    readonly policies?: PolicyFields;
  };
  readonly selector?: {
    readonly namespaces?: LabelSelector;
    readonly services?: LabelSelector;
  };
}

/** Values of policy fields by name, checked by their schema. */
export type PolicyFields = Readonly<Record<string, unknown>>;

/** A GatewayPolicy. */
export interface PolicySpec {
  readonly targetRefs?: readonly PolicyTargetReference[];
  readonly targetSelectors?: readonly PolicyTargetSelector[];
  readonly frontend?: PolicyFields;
  readonly traffic?: PolicyFields;
  readonly backend?: PolicyFields;
}

/** A BackendTLSPolicy. */
export type BackendTlsSpec = SpecOf<typeof backendTlsPolicySchema>;

/** What a policy targets, by name. */
export interface PolicyTargetReference extends LocalReference {
  readonly sectionName?: string;
}

/** What a policy targets, by labels. */
export interface PolicyTargetSelector {
  readonly group: string;
  readonly kind: string;
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly sectionName?: string;
}

import { gatewayBackendSchema } from "../../manifests/backend.ts";
import {
  configMapSchema,
  endpointSliceSchema,
  namespaceSchema,
  referenceGrantSchema,
  secretSchema,
  serviceSchema,
} from "../../manifests/core.ts";
import {
  backendTlsPolicySchema,
  gatewayClassSchema,
  gatewaySchema,
  listenerSetSchema,
} from "../../manifests/gateway.ts";
import { inferencePoolSchema } from "../../manifests/inference.ts";
import type { ManifestKind } from "../../manifests/manifests.ts";
import { parametersSchema } from "../../manifests/parameters.ts";
import { policySchema } from "../../manifests/policy.ts";
import {
  grpcRouteSchema,
  httpRouteSchema,
  tcpRouteSchema,
  tlsRouteSchema,
} from "../../manifests/routes.ts";
import { choice, object, type Schema } from "../../schema/schema.ts";
import { policyFields, policyRuleFields } from "./policy-fields.ts";
import { BACKEND_SECTIONS, backendKinds, backendPolicies, ownPolicies } from "./schemas/backend.ts";
import { grpcFilters, httpFilters } from "./schemas/filters.ts";
import { frontendFields } from "./schemas/frontend.ts";
import { modelResourceSchema } from "./schemas/model.ts";

/** A Kubernetes kind: its names and schema. */
export interface KindRow {
  readonly kind: ManifestKind;
  /**
   * Names of the kind: `HTTPRoute`. gwc's kinds also have the names of agentgateway's kinds, whose configuration they
   * share.
   */
  readonly names: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  readonly isNamespaced: boolean;
  readonly schema: () => Schema;
}

/** The Gateway API's group. */
export const GATEWAY_GROUP = "gateway.networking.k8s.io";
/** The group of the Gateway API inference extension. */
export const INFERENCE_GROUP = "inference.networking.k8s.io";
/** API groups of gwc's kinds: its own first, then agentgateway's, which is accepted too. */
export const OUR_GROUPS = ["gwc.dev", "agentgateway.dev"];

/** All kinds that gwc reads. */
export const kinds: readonly KindRow[] = [
  {
    ...gatewayKind("GatewayClass", ["v1", "v1beta1"], () => gatewayClassSchema),
    isNamespaced: false,
  },
  gatewayKind("Gateway", ["v1", "v1beta1"], () => gatewaySchema),
  {
    ...gatewayKind("ListenerSet", ["v1", "v1alpha1"], () => listenerSetSchema),
    names: ["ListenerSet", "XListenerSet"],
    groups: [GATEWAY_GROUP, "gateway.networking.x-k8s.io"],
  },
  gatewayKind("HTTPRoute", ["v1", "v1beta1"], () =>
    httpRouteSchema(httpFilters(), policyRuleFields("HTTPRoute")),
  ),
  gatewayKind("GRPCRoute", ["v1"], () =>
    grpcRouteSchema(grpcFilters(), policyRuleFields("GRPCRoute")),
  ),
  gatewayKind("TCPRoute", ["v1alpha2", "v1"], () => tcpRouteSchema),
  gatewayKind("TLSRoute", ["v1alpha2", "v1alpha3", "v1"], () => tlsRouteSchema),
  gatewayKind("ReferenceGrant", ["v1beta1", "v1"], () => referenceGrantSchema),
  gatewayKind("BackendTLSPolicy", ["v1", "v1alpha3"], () => backendTlsPolicySchema),
  coreKind("Service", () => serviceSchema),
  { ...coreKind("EndpointSlice", () => endpointSliceSchema), groups: ["discovery.k8s.io"] },
  { ...coreKind("Namespace", () => namespaceSchema), isNamespaced: false },
  coreKind("Secret", () => secretSchema),
  coreKind("ConfigMap", () => configMapSchema),
  {
    kind: "InferencePool",
    names: ["InferencePool"],
    groups: [INFERENCE_GROUP, "inference.networking.x-k8s.io"],
    versions: ["v1", "v1alpha2"],
    isNamespaced: true,
    schema: () => inferencePoolSchema,
  },
  ourKind("GatewayBackend", "AgentgatewayBackend", backendSchema),
  ourKind("GatewayModel", "AgentgatewayModel", modelResourceSchema),
  ourKind("GatewayPolicy", "AgentgatewayPolicy", gatewayPolicySchema),
  ourKind("GatewayParameters", "AgentgatewayParameters", () => parametersSchema),
];

/** Splits an `apiVersion` into group and version. */
export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** Finds the kind by group and name, for references and documents. */
export function resourceKind(group: string, name: string): ManifestKind | undefined {
  return kinds.find(({ groups, names }) => groups.includes(group) && names.includes(name))?.kind;
}

function gatewayKind(
  kind: ManifestKind,
  versions: readonly string[],
  schema: () => Schema,
): KindRow {
  return { kind, names: [kind], groups: [GATEWAY_GROUP], versions, isNamespaced: true, schema };
}

function backendSchema() {
  return gatewayBackendSchema(backendKinds(), ownPolicies());
}

function gatewayPolicySchema() {
  return policySchema({
    frontend: object(frontendFields, {
      hasParts: true,
      description: "Settings for connections between clients and a Gateway.",
    }),
    traffic: object(trafficFields(), {
      hasParts: true,
      description: "Policies for requests of Gateways, listeners, routes and rules.",
    }),
    backend: backendPolicies(BACKEND_SECTIONS),
  });
}

function coreKind(kind: ManifestKind, schema: () => Schema): KindRow {
  return { kind, names: [kind], groups: [""], versions: ["v1"], isNamespaced: true, schema };
}

function ourKind(kind: ManifestKind, other: string, schema: () => Schema): KindRow {
  return {
    kind,
    names: [kind, other],
    groups: OUR_GROUPS,
    versions: ["v1alpha1"],
    isNamespaced: true,
    schema,
  };
}

/** PreRouting rules run before the route is chosen and can affect that choice. */
const phase = choice(
  "Whether the policies run before or after the route is chosen.",
  ["PreRouting", "PostRouting"],
  {
    default: "PostRouting",
  },
);

/** Returns the fields of `traffic` in a GatewayPolicy. */
function trafficFields() {
  return {
    phase,
    ...policyFields("traffic"),
  };
}

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
import { object, type Schema } from "../../schema/schema.ts";
import { policyRuleFields } from "./policy-fields.ts";
import { BACKEND_SECTIONS, backendKinds, backendPolicies, ownPolicies } from "./schemas/backend.ts";
import { grpcFilters, httpFilters } from "./schemas/filters.ts";
import { frontendFields } from "./schemas/frontend.ts";
import { trafficFields } from "./schemas/traffic.ts";
import { CONNECTION_FIELDS } from "./supported-fields.ts";

/** A kind of the cluster form: how it is spelled, and its shape. */
export interface KindRow {
  readonly kind: ManifestKind;
  /** `HTTPRoute`; our kinds also have the name of the gateway whose configuration they share. */
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
/** Our group first, then the other one that is accepted. */
export const OUR_GROUPS = ["gwc.dev", "agentgateway.dev"];

/** Every kind that is read. */
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
  ourKind("GatewayPolicy", "AgentgatewayPolicy", gatewayPolicySchema),
  ourKind("GatewayParameters", "AgentgatewayParameters", () => parametersSchema),
];

/** The group and version of an `apiVersion`. */
export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** The kind that a group and a kind's name stand for, in references as in documents. */
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
  return gatewayBackendSchema(backendKinds(CONNECTION_FIELDS), ownPolicies(CONNECTION_FIELDS));
}

function gatewayPolicySchema() {
  return policySchema({
    frontend: object(frontendFields, {
      hasParts: true,
      description: "What holds between clients and a Gateway.",
    }),
    traffic: object(trafficFields(), {
      hasParts: true,
      description: "What holds for requests, of Gateways, their listeners, routes and rules.",
    }),
    backend: backendPolicies(BACKEND_SECTIONS, CONNECTION_FIELDS),
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

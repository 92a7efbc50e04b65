import { GATEWAY_GROUP, resourceKind } from "../1-parse/kubernetes/kinds.ts";
import type { KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import { kindsTaken } from "../2-lower/kubernetes/gateway/listeners.ts";
import { namedParameters } from "../2-lower/kubernetes/gateway/parameters.ts";
import { formatPath } from "../diagnostics/diagnostic.ts";
import type { ListenerSpec, Manifest, ManifestOf } from "../manifests/manifests.ts";
import {
  type Condition,
  conditionFrom,
  falseCondition,
  type Problem,
  trueCondition,
  within,
} from "./conditions.ts";
import {
  type AuthorityProblems,
  authorityProblems,
  authorityReason,
  isTlsReference,
  referenceConditions,
} from "./gateway-references.ts";

/** Returns the status of a Gateway or ListenerSet: its own conditions and those of its listeners. */
export function gatewayStatus(
  manifest: ManifestOf<"Gateway"> | ManifestOf<"ListenerSet">,
  problemsOf: (manifest: Manifest) => readonly Problem[],
  kubernetes: KubernetesModel,
): object {
  const problems = problemsOf(manifest);
  const parameters =
    manifest.kind === "Gateway" ? namedParameters(manifest, kubernetes.inventory) : [];
  const ofListeners = listenerProblems(manifest, problemsOf, kubernetes);
  const listeners = ofListeners.map(listenerConditions);
  const unresolved = listeners.flatMap((conditions, index) => {
    const resolved = conditions.find(({ type }) => type === "ResolvedRefs");
    return resolved?.status === "False" ? (ofListeners[index]?.all ?? []) : [];
  });
  return {
    conditions: [
      ...wholeConditions(
        manifest,
        problems,
        ofListeners,
        parameters.flatMap((each) => problemsElsewhere(each, problemsOf)),
      ),
      ...(manifest.kind === "Gateway" ? referenceConditions(manifest, problems, unresolved) : []),
    ],
    ...(manifest.kind === "Gateway" && kubernetes.inventory.all("ListenerSet").length > 0
      ? { attachedListenerSets: attachedSets(manifest, problemsOf, kubernetes) }
      : {}),
    listeners: (manifest.spec?.listeners ?? []).flatMap((listener, index) => {
      if (listener === undefined) return [];
      const own = within(problems, "spec", "listeners", index);
      const isInConflict = own.some(({ code }) => CONFLICTS[code] !== undefined);
      return {
        name: listener.name,
        ...(manifest.kind === "ListenerSet" ? { port: listener.port } : {}),
        supportedKinds: isInConflict ? [] : supportedKinds(listener),
        attachedRoutes: attachedRoutes(manifest, listener.name, kubernetes),
        conditions: listeners[index],
      };
    }),
  };
}

/** Problems of a listener. */
interface ListenerProblems {
  /** Problems of the listener itself. */
  readonly own: readonly Problem[];
  /** Problems with the CAs for its client certificates; `undefined` if there are no problems. */
  readonly authorities: AuthorityProblems | undefined;
  /** Both. */
  readonly all: readonly Problem[];
}

/** Lists the problems of each listener of a Gateway or ListenerSet. */
function listenerProblems(
  manifest: ManifestOf<"Gateway"> | ManifestOf<"ListenerSet">,
  problemsOf: (manifest: Manifest) => readonly Problem[],
  { listeners }: KubernetesModel,
): readonly ListenerProblems[] {
  const known = [...listeners.values()].flat().filter(({ owner }) => owner === manifest);
  const problems = problemsOf(manifest);
  return (manifest.spec?.listeners ?? []).map((spec, index) => {
    const found = within(problems, "spec", "listeners", index);
    const listener = known.find((each) => each.spec === spec);
    const authorities = listener && authorityProblems(listener, problemsOf);
    const own = found.filter(({ path }) => !path.includes("caCertificateRefs"));
    return { own, authorities, all: [...own, ...(authorities?.problems ?? [])] };
  });
}

/** Lists the problems that prevent a listener from being served. */
function closingProblems({ own, authorities }: ListenerProblems): readonly Problem[] {
  const errors = own.filter(({ isError }) => isError);
  return authorities?.isEveryOne === true ? [...errors, ...authorities.problems] : errors;
}

/** Diagnostics about `tls` settings that nothing in a Gateway uses. */
const IDLE_TLS: ReadonlySet<string> = new Set(["misplaced-field", "policy-without-effect"]);

/** Returns Accepted and Programmed of the whole resource: valid listeners are served even if others are invalid. */
function wholeConditions(
  { kind }: ManifestOf<"Gateway"> | ManifestOf<"ListenerSet">,
  problems: readonly Problem[],
  listeners: readonly ListenerProblems[],
  ofParameters: readonly Problem[] = [],
): readonly Condition[] {
  const found = problems.filter(({ isError }) => isError);
  // Unused `tls` settings do not prevent anything from being served.
  const idle = within(problems, "spec", "tls").filter(({ code }) => IDLE_TLS.has(code));
  const relevant = found.filter((each) => !idle.includes(each) && !isTlsReference(each));
  const errors = [...relevant, ...ofParameters];
  const parameters = [...within(errors, "spec", "infrastructure"), ...ofParameters];
  const closing = listeners.map(closingProblems);
  // Listeners may share a problem.
  const ofListeners = [...new Set([...within(errors, "spec", "listeners"), ...closing.flat()])];
  const unusable = within(errors, "spec", "addresses").filter(
    ({ cause }) => cause === "AddressNotUsable",
  );
  const placed = [...parameters, ...ofListeners, ...unusable];
  const others = errors.filter((each) => !placed.includes(each));
  const invalid = (reason: string, found: readonly Problem[]): readonly Condition[] => [
    falseCondition("Accepted", reason, found),
    falseCondition("Programmed", kind === "ListenerSet" ? reason : "Invalid", errors),
  ];
  if (parameters.length > 0) return invalid("InvalidParameters", parameters);
  if (others.length > 0) return invalid(causeOf(others) ?? "Invalid", others);
  const isServed = closing.some((each) => each.length === 0);
  if (ofListeners.length > 0 && !isServed) return invalid("ListenersNotValid", ofListeners);
  const accepted =
    ofListeners.length === 0
      ? { ...falseCondition("Accepted", "Accepted", idle), status: "True" as const }
      : {
          ...falseCondition("Accepted", "ListenersNotValid", ofListeners),
          status: "True" as const,
        };
  if (unusable.length > 0)
    return [accepted, falseCondition("Programmed", "AddressNotUsable", unusable)];
  return [accepted, trueCondition("Programmed", "Programmed")];
}

/** Describes the mistakes of a resource for the status of another one that refers to it. */
export function problemsElsewhere(
  resource: Manifest,
  problemsOf: (manifest: Manifest) => readonly Problem[],
): readonly Problem[] {
  const errors = problemsOf(resource).filter(({ isError }) => isError);
  return errors.map((each) => {
    const message = `${resource.origin.resource?.name} ${formatPath(each.path)}: ${each.message}`;
    return { ...each, message, path: [] };
  });
}

/** Counts the accepted ListenerSets of a Gateway. */
function attachedSets(
  gateway: ManifestOf<"Gateway">,
  problemsOf: (manifest: Manifest) => readonly Problem[],
  kubernetes: KubernetesModel,
): number {
  const owners = new Set(
    [...kubernetes.listeners.values()]
      .flat()
      .flatMap((each) => (each.gateway === gateway ? [each.owner] : [])),
  );
  return [...owners].filter((owner) => {
    if (owner.kind !== "ListenerSet") return false;
    const ofListeners = listenerProblems(owner, problemsOf, kubernetes);
    return wholeConditions(owner, problemsOf(owner), ofListeners)[0]?.status === "True";
  }).length;
}

/** Returns the first reason that a problem specifies. */
function causeOf(problems: readonly Problem[]): string | undefined {
  return problems.find(({ cause }) => cause !== undefined)?.cause;
}

/** Returns the status of a GatewayClass: whether its parameters are valid, and the supported features. */
export function classStatus(problems: readonly Problem[]): object {
  const errors = problems.filter(({ isError }) => isError);
  return {
    conditions: [conditionFrom("Accepted", "Accepted", ["InvalidParameters", errors])],
    supportedFeatures: SUPPORTED_FEATURES.map((name) => ({ name })),
  };
}

function listenerConditions(problems: ListenerProblems): readonly Condition[] {
  const { own, authorities } = problems;
  const errors = own.filter(({ isError }) => isError);
  const kinds = own.filter(({ code }) => code === "wrong-route-kind");
  const conflicts = errors.filter(({ code }) => CONFLICTS[code] !== undefined);
  const references = errors.filter(({ path }) => path.includes("certificateRefs"));
  const others = errors.filter((each) => !conflicts.includes(each) && !references.includes(each));
  const unsupported = others.some(({ path }) => path.includes("protocol"));
  const denied = references.some(({ code }) => code === "reference-not-permitted");
  const conflict = CONFLICTS[conflicts[0]?.code ?? ""];
  return [
    conditionFrom(
      "Accepted",
      "Accepted",
      [unsupported ? "UnsupportedProtocol" : "Invalid", others],
      [conflict ?? "", conflicts],
      ["NoValidCACertificate", authorities?.isEveryOne === true ? authorities.problems : []],
    ),
    conflict === undefined
      ? { type: "Conflicted", status: "False", reason: "NoConflicts", message: "" }
      : { ...falseCondition("Conflicted", conflict, conflicts), status: "True" },
    conditionFrom(
      "ResolvedRefs",
      "ResolvedRefs",
      [denied ? "RefNotPermitted" : "InvalidCertificateRef", references],
      [authorityReason(authorities?.problems ?? []), authorities?.problems ?? []],
      ["InvalidRouteKinds", kinds],
    ),
    conditionFrom("Programmed", "Programmed", [conflict ?? "Invalid", closingProblems(problems)]),
  ];
}

const CONFLICTS: Readonly<Record<string, string>> = {
  "listener-conflict": "HostnameConflict",
  "protocol-conflict": "ProtocolConflict",
};

/** Lists the route kinds that a listener accepts. */
function supportedKinds(listener: ListenerSpec): readonly object[] {
  const listed = listener.allowedRoutes?.kinds ?? [];
  return kindsTaken(listener).map((kind) => {
    // Spelled as in the listener: gwc's kinds have several names.
    const written = listed.find(
      (each) => resourceKind(each.group ?? GATEWAY_GROUP, each.kind) === kind,
    );
    return { group: GATEWAY_GROUP, kind, ...written };
  });
}

function attachedRoutes(
  owner: Manifest,
  name: string,
  { attachments, inventory, context }: KubernetesModel,
): number {
  const here = attachments.filter(
    ({ listener, via }) =>
      via === undefined && listener.owner === owner && listener.spec.name === name,
  );
  const routes = new Set(here.map(({ route }) => route));
  // The models of a listener have a single route, which is no resource.
  const own = [...routes].filter((each) => inventory.find(each.kind, each.namespace, each.name));
  const listener = here[0]?.listener;
  const models =
    listener === undefined ? [] : (context.models.ofListeners.get(listener.resource.key) ?? []);
  return own.length + models.length;
}

/**
 * Features of the Gateway API that gwc supports. Each enables tests of the conformance suite, all of which
 * pass (test/conformance/gateway-api-suite.test.ts). Sorted, as the status of a GatewayClass requires.
 */
const SUPPORTED_FEATURES: readonly string[] = [
  "BackendTLSPolicy",
  "BackendTLSPolicySANValidation",
  "GRPCRoute",
  "GRPCRouteNamedRouteRule",
  "Gateway",
  "GatewayAddressEmpty",
  "GatewayBackendClientCertificate",
  "GatewayFrontendClientCertificateValidation",
  "GatewayFrontendClientCertificateValidationInsecureFallback",
  "GatewayHTTPListenerIsolation",
  "GatewayHTTPSListenerDetectMisdirectedRequests",
  "GatewayInfrastructurePropagation",
  "GatewayPort8080",
  "GatewayStaticAddresses",
  "HTTPRoute",
  "HTTPRoute303RedirectStatusCode",
  "HTTPRoute307RedirectStatusCode",
  "HTTPRoute308RedirectStatusCode",
  "HTTPRouteBackendProtocolH2C",
  "HTTPRouteBackendProtocolWebSocket",
  "HTTPRouteBackendRequestHeaderModification",
  "HTTPRouteBackendTimeout",
  "HTTPRouteCORS",
  "HTTPRouteDestinationPortMatching",
  "HTTPRouteHostRewrite",
  "HTTPRouteMethodMatching",
  "HTTPRouteNamedRouteRule",
  "HTTPRouteParentRefPort",
  "HTTPRoutePathRedirect",
  "HTTPRoutePathRewrite",
  "HTTPRoutePortRedirect",
  "HTTPRouteQueryParamMatching",
  "HTTPRouteRequestMirror",
  "HTTPRouteRequestMultipleMirrors",
  "HTTPRouteRequestPercentageMirror",
  "HTTPRouteRequestTimeout",
  "HTTPRouteResponseHeaderModification",
  "HTTPRouteSchemeRedirect",
  "ListenerSet",
  "ReferenceGrant",
  "TLSRoute",
  "TLSRouteModeMixed",
  "TLSRouteModeTerminate",
];

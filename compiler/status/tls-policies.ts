import type { KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import { groupOf } from "../2-lower/kubernetes/inventory/references.ts";
import type { Manifest, ManifestOf } from "../manifests/manifests.ts";
import { CONTROLLER, type Condition, conditionFrom, type Problem, within } from "./conditions.ts";
import type { Ancestor } from "./policies.ts";

/** Returns the status of a BackendTLSPolicy for each Gateway whose traffic it affects; empty without one (GEP-713). */
export function tlsPolicyStatus(
  policy: ManifestOf<"BackendTLSPolicy">,
  problems: readonly Problem[],
  { context }: KubernetesModel,
): object {
  const errors = problems.filter(({ isError }) => isError);
  const gateways = [...(context.effective.get(policy) ?? [])].map(gatewayAncestor);
  if (gateways.length === 0) return {};
  const authorities = within(errors, "spec", "validation", "caCertificateRefs");
  const conditions = [acceptedBy(errors, authorities, problems), resolvedOf(authorities)];
  return {
    ancestors: gateways.map((ancestorRef) => ({
      ancestorRef,
      controllerName: CONTROLLER,
      conditions,
    })),
  };
}

function gatewayAncestor({ namespace, name }: Manifest): Ancestor {
  return { group: groupOf("Gateway"), kind: "Gateway", namespace, name };
}

function acceptedBy(
  errors: readonly Problem[],
  authorities: readonly Problem[],
  problems: readonly Problem[],
): Condition {
  const idle = problems.find(({ code }) => code === "policy-without-effect");
  const accepted = conditionFrom(
    "Accepted",
    "Accepted",
    ["TargetNotFound", within(errors, "spec", "targetRefs")],
    ["NoValidCACertificate", authorities],
    ["Invalid", errors],
    ["Conflicted", problems.filter(({ code }) => code === "policy-conflict")],
  );
  return accepted.status === "True" ? { ...accepted, message: idle?.message ?? "" } : accepted;
}

function resolvedOf(authorities: readonly Problem[]): Condition {
  const isOther = authorities.some(({ code }) => code === "wrong-reference-kind");
  const reason = isOther ? "InvalidKind" : "InvalidCACertificateRef";
  return conditionFrom("ResolvedRefs", "ResolvedRefs", [reason, authorities]);
}

import type { KubernetesModel } from "../../2-lower/kubernetes/gateway/gateways.ts";
import { groupOf } from "../../2-lower/kubernetes/inventory/references.ts";
import type { Manifest, ManifestOf } from "../../manifests/manifests.ts";
import {
  CONTROLLER,
  type Condition,
  falseCondition,
  type Problem,
  trueCondition,
  within,
} from "./conditions.ts";
import type { Ancestor } from "./policies.ts";

/** The status of a BackendTLSPolicy: for each Gateway whose traffic it acts on. Without one there is nothing to say (GEP-713). */
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
  const targets = within(errors, "spec", "targetRefs");
  if (targets.length > 0) return falseCondition("Accepted", "TargetNotFound", targets);
  if (authorities.length > 0)
    return falseCondition("Accepted", "NoValidCACertificate", authorities);
  if (errors.length > 0) return falseCondition("Accepted", "Invalid", errors);
  const conflicts = problems.filter(({ code }) => code === "policy-conflict");
  if (conflicts.length > 0) return falseCondition("Accepted", "Conflicted", conflicts);
  const idle = problems.find(({ code }) => code === "policy-without-effect");
  return trueCondition("Accepted", "Accepted", idle?.message);
}

function resolvedOf(authorities: readonly Problem[]): Condition {
  if (authorities.length === 0) return trueCondition("ResolvedRefs", "ResolvedRefs");
  const isOther = authorities.some(({ code }) => code === "wrong-reference-kind");
  return falseCondition(
    "ResolvedRefs",
    isOther ? "InvalidKind" : "InvalidCACertificateRef",
    authorities,
  );
}

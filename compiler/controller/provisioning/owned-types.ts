import type { ResourceType } from "../kubernetes/api-object.ts";

/** The kinds of objects that run a Gateway. */
export const ownedTypes: readonly ResourceType[] = [
  owned("", "v1", "ServiceAccount", "serviceaccounts"),
  owned("", "v1", "ConfigMap", "configmaps"),
  owned("", "v1", "Service", "services"),
  owned("apps", "v1", "Deployment", "deployments"),
  owned("apps", "v1", "DaemonSet", "daemonsets"),
  owned("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  owned("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
];

const LABEL = "app.kubernetes.io/managed-by";
const VALUE = "gwc";
/** The label that the objects of a controller have. */
export const OWNED: Readonly<Record<string, string>> = { [LABEL]: VALUE };
/** Selector of the owned objects. */
export const OWNED_SELECTOR: string = `${LABEL}=${VALUE}`;

function owned(group: string, version: string, kind: string, plural: string): ResourceType {
  return { group, version, kind, plural, isNamespaced: true };
}

import { kindOf } from "../1-parse/kubernetes/kinds.ts";
import { type Cluster, CONTROLLERS } from "../2-resolve/kubernetes/gateways.ts";
import { groupOf } from "../2-resolve/kubernetes/references.ts";
import { selects } from "../2-resolve/kubernetes/selectors.ts";
import type { Checked } from "../compile.ts";
import type { Manifest, ManifestKind, ManifestOf } from "../manifests.ts";
import { fails, holds, type Problem, problemsByResource } from "./conditions.ts";
import { classStatus, gatewayStatus } from "./gateways.ts";
import { type Ancestor, policyStatus } from "./policies.ts";
import { routeStatus } from "./routes.ts";

/** The status that a controller would write for a resource. */
export interface ResourceStatus {
  readonly kind: ManifestKind;
  readonly namespace?: string;
  readonly name: string;
  readonly status: object;
}

/** The conditions of everything that has a status, sorted by kind, namespace and name. */
export function statusOf(checked: Checked, cluster: Cluster): readonly ResourceStatus[] {
  const problemsOf = problemsByResource(checked);
  return cluster.manifests
    .flatMap((manifest): readonly ResourceStatus[] => {
      const status = statusOfOne(manifest, problemsOf(manifest), cluster);
      const { kind, namespace, name } = manifest;
      if (status === undefined) return [];
      return [{ kind, ...(namespace === "" ? {} : { namespace }), name, status }];
    })
    .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function sortKey({ kind, namespace = "", name }: ResourceStatus): string {
  return `${String(ORDER.indexOf(kind)).padStart(2, "0")} ${namespace}/${name}`;
}

const ORDER: readonly ManifestKind[] = [
  ...(["GatewayClass", "Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TCPRoute"] as const),
  ...(["TLSRoute", "GatewayBackend", "GatewayPolicy"] as const),
];

function statusOfOne(
  manifest: Manifest,
  problems: readonly Problem[],
  cluster: Cluster,
): object | undefined {
  switch (manifest.kind) {
    case "GatewayClass":
      return isOurs(manifest) ? classStatus(problems) : undefined;
    case "Gateway":
    case "ListenerSet":
      if (problems.some(({ code }) => code === "foreign-gateway")) return undefined;
      return gatewayStatus(manifest, problems, cluster);
    case "HTTPRoute":
    case "GRPCRoute":
    case "TCPRoute":
    case "TLSRoute":
      return routeStatus(manifest, problems);
    case "GatewayBackend": {
      const errors = problems.filter(({ isError }) => isError);
      const condition =
        errors.length === 0
          ? holds("Accepted", "Accepted")
          : fails("Accepted", "TranslationError", errors);
      return { conditions: [condition] };
    }
    case "GatewayPolicy":
      return policyStatus(manifest, ancestorsOf(manifest, cluster), problems);
    default:
      return undefined;
  }
}

function isOurs({ spec }: ManifestOf<"GatewayClass">): boolean {
  return CONTROLLERS.includes(spec?.controllerName ?? "");
}

/** The targets of a policy, those by name whether they exist or not. */
function ancestorsOf(
  { spec, namespace }: ManifestOf<"GatewayPolicy">,
  { inventory }: Cluster,
): readonly Ancestor[] {
  const byName = (spec?.targetRefs ?? []).map(
    ({ group, kind, name, sectionName }): Ancestor => ({
      group,
      kind,
      namespace,
      name,
      ...(sectionName === undefined ? {} : { sectionName }),
    }),
  );
  const byLabels = (spec?.targetSelectors ?? []).flatMap((selector): readonly Ancestor[] => {
    const kind = kindOf(selector.group, selector.kind);
    if (kind === undefined) return [];
    return inventory
      .all(kind)
      .filter((each) => each.namespace === namespace)
      .filter((each) => selects({ matchLabels: selector.matchLabels }, each.labels))
      .map(({ name }) => ({ group: groupOf(kind), kind, namespace, name }));
  });
  return [...byName, ...byLabels];
}

import type { ListenerResource } from "../config/resources.ts";
import { type Diagnostics, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { ListenerNode } from "../ir/program.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";

/** Reports path handling on listeners of TCP routes, which have no paths. */
export function checkPathHandling(
  { protocol, pathHandling }: ListenerResource,
  diagnostics: Diagnostics,
): void {
  if (pathHandling === undefined || protocol === "HTTP" || protocol === "HTTPS") return;
  const params = { field: '"pathHandling"', actsOn: "requests", found: "connections" };
  diagnostics.report("misplaced-field", keyPlace(pathHandling.origin), params);
}

/** Reports rules that read paths which are forwarded verbatim, because the backend may interpret them differently. */
export function checkPathRules(
  { name, pathHandling, preRouting, routes }: Omit<ListenerNode, "table">,
  diagnostics: Diagnostics,
): void {
  if (pathHandling !== "verbatim") return;
  const uses = [preRouting ?? [], routes].flat().flatMap(({ policies }) => policies);
  for (const origin of new Set(uses.flatMap(pathRulesOf))) {
    diagnostics.report("verbatim-path-rule", origin, { listener: name });
  }
}

function pathRulesOf<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly Origin[] {
  return policyOf(kind).access?.pathRules?.(settings) ?? [];
}

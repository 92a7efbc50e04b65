import type { ListenerResource } from "../config/resources.ts";
import { type Diagnostics, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { ListenerNode } from "../ir/program.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";

/** Reports a choice of paths where connections have none. */
export function checkPathHandling(
  { protocol, pathHandling }: ListenerResource,
  diagnostics: Diagnostics,
): void {
  if (pathHandling === undefined || protocol === "HTTP" || protocol === "HTTPS") return;
  const params = { field: '"pathHandling"', actsOn: "requests", found: "connections" };
  diagnostics.report("misplaced-field", keyPlace(pathHandling.origin), params);
}

/** Reports the rules that read paths which go on as they were sent: a backend may read other ones. */
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
  return policyOf(kind).pathRules?.(settings) ?? [];
}

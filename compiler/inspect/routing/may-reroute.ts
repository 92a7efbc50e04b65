import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode } from "../../ir/program.ts";
import { type PolicyKind, policyOf } from "../../policies/index.ts";
import type { ChangedParts } from "../../policies/policy.ts";

/** What a policy may change of a request. */
export function changesRequest<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): ChangedParts {
  return policyOf(kind).changesRequest?.(settings) ?? [];
}

/** The policy of a listener that may change which of its routes a request reaches; undefined: none does. */
export function reroutingPolicy({ preRouting, table }: ListenerNode): PolicyUse | undefined {
  const entries = table.flatMap((each) => each.entries);
  const read = new Set(
    entries.flatMap(({ match }) => match.headers.map(({ name }) => name.toLowerCase())),
  );
  return preRouting?.policies.find((use) => {
    const changes = changesRequest(use);
    return changes === "anything" || changes.some((name) => name.startsWith(":") || read.has(name));
  });
}

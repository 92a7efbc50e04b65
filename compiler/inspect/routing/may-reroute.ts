import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode } from "../../ir/program.ts";
import { type PolicyKind, policyOf } from "../../policies/index.ts";
import type { ChangedParts } from "../../policies/policy.ts";

/** Returns the parts of a request that a policy may change. */
export function changesRequest<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): ChangedParts {
  return policyOf(kind).traits.changesRequest?.(settings) ?? [];
}

/** Returns the policy of a listener that may change which route a request reaches; `undefined` if no policy does. */
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

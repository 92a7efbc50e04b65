import { backendOf } from "../backends/index.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { BackendKind, BackendNode } from "../ir/backends.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { BindNode } from "../ir/program.ts";
import { type ConnectionUseNode, DEFAULT_USER_CLAIM } from "../model/user-connections.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";

/** Reports connections of backends that no page of the gateway offers: their users could never connect. */
export function checkUserConnections(binds: readonly BindNode[], diagnostics: Diagnostics): void {
  const routes = new Set(
    binds.flatMap(({ listeners }) => listeners.flatMap((each) => each.routes)),
  );
  const offered = [...routes].flatMap(({ policies }) => policies.flatMap(offeredBy));
  for (const { policies } of routes) {
    if (!policies.some(announcesLogouts)) continue;
    for (const use of policies)
      for (const { claim } of offeredBy(use).slice(0, 1))
        if (claim !== DEFAULT_USER_CLAIM)
          diagnostics.report("logout-by-other-claim", keyPlace(use.origin), { claim });
  }
  // A tenant's servers get no tokens that users have granted on another tenant's page.
  const keyOf = ({ name, page, claim, owner }: Omit<ConnectionUseNode, "origin">) =>
    JSON.stringify([name, page, claim, owner]);
  const known = new Set(offered.map(keyOf));
  for (const use of [...routes].flatMap(({ backends }) => backends.flatMap(usesOf))) {
    if (known.has(keyOf(use))) continue;
    const { name, page, claim, origin } = use;
    diagnostics.report("unknown-connection", origin, { name, page, claim });
  }
}

function announcesLogouts<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>): boolean {
  return policyOf(kind).traits.announcesLogouts?.(settings) === true;
}

function offeredBy<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>) {
  return policyOf(kind).traits.connections?.(settings) ?? [];
}

function usesOf<Kind extends BackendKind>(node: BackendNode<Kind>): readonly ConnectionUseNode[] {
  return backendOf(node.kind).userConnections?.(node) ?? [];
}

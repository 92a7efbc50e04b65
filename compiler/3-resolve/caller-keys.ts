import { headersGiving } from "../cel/compile.ts";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { ListenerNode } from "../ir/program.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import type { CallerKey, ChangedParts } from "../policies/policy.ts";

/** Reports what tells callers apart by headers that they choose: who sends another one is another caller. */
export function checkCallerKeys(
  { preRouting, routes }: Pick<ListenerNode, "preRouting" | "routes">,
  diagnostics: Diagnostics,
): void {
  const before = preRouting?.policies ?? [];
  checkKeys([], before, diagnostics);
  for (const { policies } of routes) checkKeys(before, policies, diagnostics);
}

/** `before`: the policies that the requests have met already. */
function checkKeys(
  before: readonly PolicyUse[],
  policies: readonly PolicyUse[],
  diagnostics: Diagnostics,
): void {
  for (const [index, use] of policies.entries()) {
    const keys = callerKeys(use);
    if (keys.length === 0) continue;
    const said = [...before, ...policies.slice(0, index)].map(saidHeaders);
    if (said.includes("anything")) continue;
    const own = new Set(said.flat());
    for (const { text, origin } of keys) {
      const names = headersGiving(text, "request").filter((name) => !own.has(name));
      if (names.length > 0) diagnostics.report("limits-by-choice", origin, { names });
    }
  }
}

function callerKeys<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly CallerKey[] {
  return policyOf(kind).callerKeys?.(settings) ?? [];
}

/** The headers, in lower case, that hold what the policy says after it, or has found true. */
function saidHeaders<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>): ChangedParts {
  const policy = policyOf(kind);
  const changed = policy.changesRequest?.(settings) ?? [];
  if (changed === "anything") return changed;
  const names = [...changed, ...(policy.ownHeaders?.(settings) ?? []), ...provenHeader(settings)];
  return names.map((name) => name.toLowerCase());
}

/** The header of a credential: where a wrong one is refused, another value is another caller. */
function provenHeader(settings: PolicyUse["settings"]): readonly string[] {
  if (!("location" in settings && "header" in settings.location)) return [];
  return "mode" in settings && settings.mode === "permissive" ? [] : [settings.location.header];
}

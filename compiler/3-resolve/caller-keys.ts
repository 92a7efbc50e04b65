import { headersGiving } from "../cel/compile.ts";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { ListenerNode } from "../ir/program.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import type { CallerKey, ChangedParts } from "../policies/policy.ts";

/** Reports keys from headers that clients choose: by sending another value, a client becomes another caller. */
export function checkCallerKeys(
  { preRouting, routes }: Pick<ListenerNode, "preRouting" | "routes">,
  diagnostics: Diagnostics,
): void {
  const before = preRouting?.policies ?? [];
  checkKeys([], before, diagnostics);
  for (const { policies } of routes) checkKeys(before, policies, diagnostics);
}

/** Checks the keys of `policies`; the requests have already passed the policies in `before`. */
function checkKeys(
  before: readonly PolicyUse[],
  policies: readonly PolicyUse[],
  diagnostics: Diagnostics,
): void {
  for (const [index, use] of policies.entries()) {
    const keys = callerKeys(use);
    if (keys.length === 0) continue;
    const trusted = [...before, ...policies.slice(0, index)].map(trustedHeaders);
    if (trusted.includes("anything")) continue;
    const own = new Set(trusted.flat());
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
  return policyOf(kind).access?.callerKeys?.(settings) ?? [];
}

/** Returns the headers, in lower case, that are trustworthy after a policy: it sets or verifies them. */
function trustedHeaders<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): ChangedParts {
  const policy = policyOf(kind);
  const changed = policy.traits.changesRequest?.(settings) ?? [];
  if (changed === "anything") return changed;
  const names = [
    ...changed,
    ...(policy.traits.ownHeaders?.(settings) ?? []),
    ...provenHeader(settings),
  ];
  return names.map((name) => name.toLowerCase());
}

/** Returns the header of a credential. If invalid credentials are refused, each valid value is a distinct caller. */
function provenHeader(settings: PolicyUse["settings"]): readonly string[] {
  if (!("location" in settings && "header" in settings.location)) return [];
  return "mode" in settings && settings.mode === "permissive" ? [] : [settings.location.header];
}

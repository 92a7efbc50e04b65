import type { ListenerResource } from "../config/resources.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { PolicyKind } from "../ir/policies.ts";
import type { CredentialPlace, CredentialUse } from "../model/credential-use.ts";
import { type PolicyConfig, policyOf } from "../policies/index.ts";

/**
 * Reports policies of a route, and of its listeners before routing, that read different credentials from the same
 * location: no request satisfies both.
 */
export function checkCredentials(
  policies: readonly PolicyConfig[],
  listeners: readonly ListenerResource[],
  diagnostics: Diagnostics,
): void {
  const own = used(policies);
  for (const [index, later] of own.entries()) {
    const before = listeners.flatMap((listener) => used(listener.policies));
    const earlier = [...before, ...own.slice(0, index)].find((each) =>
      excludes(each.use, later.use),
    );
    if (earlier === undefined) continue;
    diagnostics.report("one-credential-place", keyPlace(later.policy.origin), {
      one: earlier.policy.kind,
      other: later.policy.kind,
      place: placeText(later.use.location),
    });
  }
}

/**
 * Reports CORS policies whose preflights do not allow the header of a required credential: no page of another origin could
 * send it, although its origin is allowed.
 */
export function checkPreflights(
  policies: readonly PolicyConfig[],
  listeners: readonly ListenerResource[],
  diagnostics: Diagnostics,
): void {
  const [answering] = policies.flatMap((policy) => {
    const headers = preflightHeadersOf(policy);
    return headers === undefined ? [] : [{ policy, headers }];
  });
  if (answering === undefined) return;
  const { headers: allowed } = answering;
  const required = [...listeners.flatMap((each) => used(each.policies)), ...used(policies)];
  for (const { policy, use } of required) {
    if (use.mode !== "strict" || !("header" in use.location)) continue;
    const header = use.location.header.toLowerCase();
    // The Fetch standard excepts this header from the wildcard.
    const isAllowed = allowed.includes("*") && header !== "authorization";
    if (isAllowed || allowed.includes(header)) continue;
    diagnostics.report("preflight-refuses-credential", keyPlace(answering.policy.origin), {
      header,
      policy: policy.kind,
    });
    return;
  }
}

interface PolicyOfCredential {
  readonly policy: PolicyConfig;
  readonly use: CredentialUse;
}

function used(policies: readonly PolicyConfig[]): readonly PolicyOfCredential[] {
  return policies.flatMap((policy) => {
    const use = useOf(policy);
    return use === undefined ? [] : [{ policy, use }];
  });
}

function useOf<Kind extends PolicyKind>({
  kind,
  config,
}: PolicyConfig<Kind>): CredentialUse | undefined {
  return policyOf(kind).access?.credential?.(config);
}

function preflightHeadersOf<Kind extends PolicyKind>({
  kind,
  config,
}: PolicyConfig<Kind>): readonly string[] | undefined {
  return policyOf(kind).access?.preflightHeaders?.(config);
}

/** Whether no request can pass both. */
function excludes(first: CredentialUse, second: CredentialUse): boolean {
  if (first.kind === second.kind) return false;
  const modes = [first.mode, second.mode];
  if (modes.includes("permissive") || !modes.includes("strict")) return false;
  const areStrict = first.mode === "strict" && second.mode === "strict";
  const [a, b] = [first.location, second.location];
  if ("header" in a && "header" in b) {
    if (a.header !== b.header) return false;
    // An optional credential counts as absent if the header has another scheme.
    return areStrict || overlap(a.prefix, b.prefix);
  }
  if ("cookie" in a && "cookie" in b) return a.cookie === b.cookie;
  if ("queryParameter" in a && "queryParameter" in b) return a.queryParameter === b.queryParameter;
  return false;
}

/** Whether a value can start with both prefixes. */
function overlap(first: string, second: string): boolean {
  const [a, b] = [first.toLowerCase(), second.toLowerCase()];
  return a.startsWith(b) || b.startsWith(a);
}

function placeText(location: CredentialPlace): string {
  if ("header" in location) return `the header "${location.header}"`;
  if ("cookie" in location) return `the cookie "${location.cookie}"`;
  if ("queryParameter" in location) return `the query parameter "${location.queryParameter}"`;
  return "one place";
}

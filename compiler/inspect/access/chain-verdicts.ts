import type { Origin } from "../../diagnostics/diagnostic.ts";
import { accessOf } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { AccessCheck } from "../../model/access.ts";
import type { Rule } from "../../model/rules.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import { isOpenPath, type KnownRequest, openDecision } from "../effect/model/open-decision.ts";
import type { Wording } from "../effect/words/in-words.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { changesRequest } from "../routing/may-reroute.ts";

/** Effect of a policy on a request. */
export type AccessVerdict = "passes" | "refuses" | "depends" | "undecided" | "outside";

/** A policy's verdict and its reason. */
export interface PolicyVerdict {
  readonly policy: string;
  readonly verdict: AccessVerdict;
  /** A phrase: `allowed by "admin" in jwt.roles`. */
  readonly reason: string;
  /** Location of the deciding rule, or of the policy. */
  readonly origin: Origin;
  /** The deciding rule; absent if no rule decides. */
  readonly rule?: Rule;
  /** Required credential: `a valid token of https://id.example.com`; absent if none is required. */
  readonly needs?: string;
  /** Conditions for passing, if the verdict is `depends`. */
  readonly passes?: Wording;
}

/** Identity of the sender of a request. */
export interface Identities {
  /** Claims and similar data, by variable. */
  readonly given: RequestData;
  /** Whether the sender may be anyone with valid credentials. */
  readonly isAnyone: boolean;
}

/**
 * Returns the verdict of each policy in request order, up to the first that refuses. Identities are known only after the
 * policy that checks the credentials; data from external services is open after the policy that calls them.
 */
export function chainVerdicts(
  policies: readonly PolicyUse[],
  request: KnownRequest,
  identities: Identities,
  /** Remaining steps for all questions of the command. */
  work: Work = workOfCommand(),
): readonly PolicyVerdict[] {
  const verdicts: PolicyVerdict[] = [];
  let known = request;
  for (const use of policies) {
    for (const check of accessOf(use)) {
      const verdict = verdictOf(check, known, identities, use, work);
      if (verdict !== undefined) verdicts.push(verdict);
      if (verdict?.verdict === "refuses") return verdicts;
      known = after(check, known, identities);
    }
    known = changedBy(use, known);
  }
  return verdicts;
}

/** Returns what is known of a request after a check. */
function after(
  check: AccessCheck,
  known: KnownRequest,
  { given, isAnyone }: Identities,
): KnownRequest {
  if (check.kind !== "identity") return known;
  const { variable, isRequired } = check;
  if (isAnyone) {
    const open = [...known.open, [variable]];
    return isRequired
      ? { ...known, open, present: [...known.present, variable] }
      : { ...known, open };
  }
  const identity = given[variable];
  return identity === undefined
    ? known
    : { ...known, data: { ...known.data, [variable]: identity } };
}

/** Returns what is known of a request after a policy that may change it; the parts that may have changed are open. */
function changedBy(use: PolicyUse, known: KnownRequest): KnownRequest {
  const changes = changesRequest(use);
  if (changes.length === 0) return known;
  const paths =
    changes === "anything"
      ? [["request"]]
      : changes.map((name) => (name.startsWith(":") ? ["request"] : ["request", "headers", name]));
  return { ...known, open: [...known.open, ...paths] };
}

function verdictOf(
  check: AccessCheck,
  known: KnownRequest,
  identities: Identities,
  { kind: policy, origin }: PolicyUse,
  work: Work,
): PolicyVerdict | undefined {
  switch (check.kind) {
    case "outside": {
      const verdict = headVerdict(check, known, policy, origin);
      if (verdict !== undefined) return verdict;
      return {
        policy,
        verdict: check.decidesWho ? "undecided" : "outside",
        reason: check.what,
        origin,
      };
    }
    case "identity": {
      const { given, isAnyone } = identities;
      if (isAnyone && !check.isRequired)
        return { policy, verdict: "passes", reason: `with or without ${check.proof}`, origin };
      const isThere = isAnyone || (given[check.variable] ?? null) !== null;
      if (isThere) {
        const reason = `with ${check.proof}`;
        return { policy, verdict: "passes", reason, origin, needs: check.proof };
      }
      if (check.isRequired)
        return { policy, verdict: "refuses", reason: `without ${check.proof}`, origin };
      return { policy, verdict: "passes", reason: "credentials are optional", origin };
    }
    case "rules":
      return rulesVerdict(check, known, policy, origin, work);
  }
}

/** Returns the verdict of a policy that decides by the request head; `undefined` if it does not or part of the head is open. */
function headVerdict(
  { reads, refusal, what }: Extract<AccessCheck, { kind: "outside" }>,
  { data, open }: KnownRequest,
  policy: string,
  origin: Origin,
): PolicyVerdict | undefined {
  if (reads === undefined || refusal === undefined) return undefined;
  const paths = [
    ["request", "method"],
    ["request", "host"],
    ...reads.headers.map((name) => ["request", "headers", name]),
  ];
  if (paths.some((path) => isOpenPath(path, open))) return undefined;
  const { method, host, headers } = Object(data.request);
  const given = reads.headers.map((name) => [name, Object(headers)[name]] as const);
  const text = (value: unknown) =>
    value === undefined ? undefined : Array.isArray(value) ? value.join(", ") : String(value);
  const found = Object.fromEntries(given.map(([name, value]) => [name, text(value)]));
  const why = refusal({ method: String(method), host: String(host), headers: found });
  return why === undefined
    ? { policy, verdict: "passes", reason: what, origin }
    : { policy, verdict: "refuses", reason: why, origin };
}

function rulesVerdict(
  { rules, phase, targets }: Extract<AccessCheck, { kind: "rules" }>,
  known: KnownRequest,
  policy: string,
  origin: Origin,
  work: Work,
): PolicyVerdict | undefined {
  if (phase === "mcp" && known.data.mcp === undefined) return undefined;
  if (targets !== undefined && targets.names.includes(targetOf(known.data)) === targets.isExcluded)
    return undefined;
  // The policy has rules for certain servers only, and this is another one.
  if (rules.length === 0) return undefined;
  const found = openDecision(rules, phase, known, work.question());
  switch (found.kind) {
    case "decided": {
      const rule = found.rule === undefined ? undefined : rules[found.rule];
      const verdict = found.isAllowed ? "passes" : "refuses";
      return {
        policy,
        verdict,
        reason: ruleReason(rule, found.isAllowed),
        origin: rule?.origin ?? origin,
        ...(rule && { rule }),
      };
    }
    case "depends":
      return {
        policy,
        verdict: "depends",
        reason: "allowed under conditions",
        origin,
        passes: found.allows,
      };
    case "undecided":
      return {
        policy,
        verdict: "undecided",
        reason: `depends on ${found.expressions.join(", ")}`,
        origin,
      };
  }
}

/** Describes why rules allow or refuse a request. */
export function ruleReason(rule: Rule | undefined, isAllowed: boolean): string {
  if (rule === undefined) return isAllowed ? "no rule refuses it" : "no rule allows it";
  const phrases = { allow: "allowed by", deny: "denied by", require: "refused without" };
  return `${phrases[rule.action]} ${rule.expression.source}`;
}

/** Returns the server of the item that a request names. */
function targetOf({ mcp }: RequestData): string {
  const items: readonly unknown[] = Object.values(Object(mcp));
  const targets = items.flatMap((item) => {
    const target: unknown = Object(item).target;
    return typeof target === "string" ? target : [];
  });
  return targets[0] ?? "";
}

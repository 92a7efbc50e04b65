import type { Origin } from "../../diagnostics/diagnostic.ts";
import { accessOf } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import { type AccessOutcome, accessOutcomeOf, wordingExpression } from "../access/access-text.ts";
import { chainVerdicts, type Identities, type PolicyVerdict } from "../access/chain-verdicts.ts";
import { ALWAYS_OPEN } from "../access/item-access.ts";
import { sentRequestText } from "../access/sent-request-text.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import { type KnownRequest, openExample } from "../effect/model/open-decision.ts";
import type { Work } from "../effect/work/work.ts";
import type { ReviewedResource } from "./resources.ts";
import type { CallerClass } from "./subjects.ts";

/** The decision about a class of callers and a resource. */
export interface CellDecision {
  readonly outcome: AccessOutcome;
  /** Kind of the deciding policy; `undefined` if no policy restricts access. */
  readonly policy: string | undefined;
  readonly reason: string;
  /** Conditions as CEL, if it depends on other parts of the request. */
  readonly when: string | undefined;
  /** Location of the deciding rule, of its policy, or of the route. */
  readonly origin: Origin;
  /** Requests that were executed on the compiled rules, with their outcomes. */
  readonly example: readonly ExecutedExample[];
}

/** A request, and its outcome on the compiled rules. */
export interface ExecutedExample {
  readonly request: string;
  readonly isAllowed: boolean;
}

/**
 * Decides about a class of callers and a resource. `alternatives` are lists of policies, one of which must let a request
 * through.
 */
export function decide(
  resource: ReviewedResource,
  subject: CallerClass,
  alternatives: readonly (readonly PolicyUse[])[],
  route: Origin,
  work: Work,
): CellDecision {
  const request: KnownRequest = {
    data: { ...resource.data, source: {} },
    open: [...ALWAYS_OPEN, ["source"], ["request", "headers"], ...resource.open],
    present: [],
  };
  const identities = { given: subject.identities, isAnyone: false };
  const tried = alternatives.map((policies): TriedPolicies => {
    const verdicts = chainVerdicts(policies, request, identities, work);
    return { policies, verdicts, outcome: accessOutcomeOf(verdicts) };
  });
  const best =
    tried.find(({ outcome }) => outcome === "yes") ??
    tried.find(({ outcome }) => outcome === "depends") ??
    tried[0];
  if (best === undefined) throw new Error("a resource without a list of policies");
  const { outcome, verdicts } = best;
  const deciding = decidingVerdict(outcome, verdicts);
  const known = { ...request, data: { ...request.data, ...subject.identities } };
  return {
    outcome,
    policy: deciding?.policy,
    reason: deciding?.reason ?? "no policy restricts access",
    when: deciding?.passes && wordingExpression(deciding.passes),
    origin: deciding?.origin ?? route,
    example: examplesOf(best, deciding, known, identities, work),
  };
}

/** A list of policies, and what they decide together. */
interface TriedPolicies {
  readonly policies: readonly PolicyUse[];
  readonly verdicts: readonly PolicyVerdict[];
  readonly outcome: AccessOutcome;
}

/** Returns the verdict that decides: the first that refuses or depends, else the last rule that allows. */
function decidingVerdict(
  outcome: AccessOutcome,
  verdicts: readonly PolicyVerdict[],
): PolicyVerdict | undefined {
  if (outcome === "no") return verdicts.find(({ verdict }) => verdict === "refuses");
  if (outcome === "depends")
    return (
      verdicts.find(({ verdict }) => verdict === "depends") ??
      verdicts.find(({ verdict }) => verdict === "undecided")
    );
  return (
    verdicts.findLast(({ rule }) => rule !== undefined) ??
    verdicts.findLast(({ verdict }) => verdict === "passes")
  );
}

/** Returns executed requests: one if the decision is the same for all, else one for each outcome that was found. */
function examplesOf(
  { outcome, policies }: TriedPolicies,
  deciding: PolicyVerdict | undefined,
  known: KnownRequest,
  identities: Identities,
  work: Work,
): readonly ExecutedExample[] {
  if (outcome !== "depends") {
    const executed = chainVerdicts(policies, { ...known, open: [] }, identities, work);
    return [{ request: executedText(known.data), isAllowed: accessOutcomeOf(executed) === "yes" }];
  }
  const use = policies.find(({ origin }) => origin === deciding?.origin);
  const check = use && accessOf(use).find(({ kind }) => kind === "rules");
  if (check?.kind !== "rules" || deciding?.verdict !== "depends") return [];
  return [true, false].flatMap((isAllowed) => {
    const data = openExample(check.rules, check.phase, known, isAllowed, work.question());
    return data === undefined ? [] : [{ request: executedText(data), isAllowed }];
  });
}

/** Formats a request: `tools/call search  as {"sub":"eve"}`, or `a connection`. */
export function executedText(data: RequestData): string {
  const isItem = data.mcp !== undefined;
  if (isItem || data.request !== undefined) return sentRequestText(data, isItem, undefined, true);
  const address = Object(data.source).address;
  return address === undefined ? "a connection" : `a connection  from ${address}`;
}

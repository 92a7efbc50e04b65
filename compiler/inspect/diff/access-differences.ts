import { ruleReason } from "../access/chain-verdicts.ts";
import { sentRequestText } from "../access/sent-request-text.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import { sayTerm } from "../effect/words/in-words.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { type AccessChain, type ChainDecision, chainKey } from "./chain.ts";
import { type ChainDifference, chainDiff } from "./chain-differences.ts";
import { type Difference, plainDifference, type SidePlace } from "./difference.ts";
import type { PairRegion } from "./pair-region.ts";
import type { RoutedRequest } from "./route-pairs.ts";

/**
 * Finds requests that are allowed on only one side. `targets` are the servers of an MCP route, for which rules may differ;
 * `chainsFor` returns the chains before and after for one of them.
 */
export function accessDifferences(
  subject: string,
  targets: readonly string[],
  chainsFor: (target: string | undefined) => readonly [AccessChain, AccessChain],
  /** A request that reaches the route; examples take parts that rules do not read from it. */
  sent?: RoutedRequest,
  /** The requests that reach the route. */
  region?: () => PairRegion | undefined,
  /** Remaining steps of the command. */
  work: Work = workOfCommand(),
): { readonly differences: readonly Difference[]; readonly undecided: readonly string[] } {
  const isMcp = targets.length > 0;
  const seen = new Set<string>();
  const undecided: string[] = [];
  const differences = (isMcp ? [...new Set(targets)] : [undefined]).flatMap((target) => {
    const [old, now] = chainsFor(target);
    const key = [old, now].map(chainKey).join("\n");
    if (seen.has(key)) return [];
    seen.add(key);
    const found = chainDiff(old, now, isMcp, region, work);
    undecided.push(...found.undecided);
    if (found.differences.length + found.undecided.length === 0)
      return refusalDifferences(subject, old, now);
    return found.differences.map((each) => accessDifference(subject, each, isMcp, sent));
  });
  return { differences, undecided };
}

/** Reports changed reasons of refusals if access itself is unchanged. */
function refusalDifferences(
  subject: string,
  before: AccessChain,
  after: AccessChain,
): readonly Difference[] {
  const required = ({ identities }: AccessChain) =>
    new Set(identities.flatMap((each) => (each.isRequired ? each.variable : [])));
  const [old, now] = [required(before), required(after)];
  const change = (variable: string, text: string) =>
    plainDifference("changes", subject, `still refused without ${variable}: ${text}`);
  return [
    ...[...now].filter((each) => !old.has(each)).map((variable) => change(variable, "403 -> 401")),
    ...[...old].filter((each) => !now.has(each)).map((variable) => change(variable, "401 -> 403")),
  ];
}

function accessDifference(
  subject: string,
  { direction, term, isPartial, example, isPlaced, before, after }: ChainDifference,
  isMcp: boolean,
  sent: RoutedRequest | undefined,
): Difference {
  const isItem = isMcp && !isNoItem(example);
  const { when, unless } = sayTerm(term);
  const [closed, open] = isItem ? ["hidden", "callable"] : [statusOf(before, after), "served"];
  const more = isPartial ? ["(and under further conditions)"] : [];
  return {
    direction,
    subject,
    change: direction === "opens" ? `${closed} -> ${open}` : `${open} -> ${closed}`,
    when: [...when, ...more],
    unless,
    by: placeOf(after),
    was: reasonText(before),
    wasBy: before.reason.kind === "rule" ? before.reason.rule.origin : undefined,
    example: sentRequestText(example, isItem, sent, isPlaced),
    lines: [],
  };
}

function isNoItem({ mcp }: RequestData): boolean {
  return !["tool", "prompt", "resource"].some((kind) => Object(mcp)[kind] !== undefined);
}

/** Returns the status of the refusal. */
function statusOf(before: ChainDecision, after: ChainDecision): string {
  const refusal = before.isAllowed ? after : before;
  return refusal.reason.kind === "identity" ? "401" : "403";
}

function placeOf({ reason }: ChainDecision): SidePlace | undefined {
  if (reason.kind !== "rule") return undefined;
  const { origin, expression, action } = reason.rule;
  const prefix = action === "allow" ? "" : `${action}: `;
  return { side: "after", origin, text: `${prefix}${expression.source}` };
}

function reasonText({ isAllowed, reason }: ChainDecision): string {
  if (reason.kind === "identity") return `refused without ${reason.variable}`;
  if (reason.kind === "rule") return ruleReason(reason.rule, isAllowed);
  return isAllowed ? "no rule refused it" : "no rule allowed it";
}

import { backendOf } from "../../backends/index.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { RouteNode } from "../../ir/program.ts";
import type { ChangeDirection } from "../../model/access.ts";
import type { Text } from "../../model/texts.ts";
import { type PolicyKind, policyOf } from "../../policies/index.ts";
import { accessOf, ruleReason } from "../access/chain-verdicts.ts";
import { mcpTargets } from "../access/item-access.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import { sayTerm } from "../effect/words/in-words.ts";
import { type ChainDecision, chainKey, chainOf } from "./chain.ts";
import { type ChainDifference, chainDiff } from "./chain-differences.ts";
import { type Difference, plainDifference, type SidePlace } from "./difference.ts";
import { changedFields, settingsKey } from "./settings-text.ts";

/** Policies, and what is behind them. */
export type Served = Pick<RouteNode, "policies" | "backends">;

/** What two routes do differently for the requests that reach them. */
export function routeDifferences(
  subject: string,
  before: Served,
  after: Served,
): { readonly differences: readonly Difference[]; readonly undecided: readonly string[] } {
  const targets = [
    ...new Set([before, after].flatMap(({ backends }) => backends.flatMap(mcpTargets))),
  ];
  const isMcp = targets.length > 0;
  const seen = new Set<string>();
  const undecided: string[] = [];
  const access = (isMcp ? targets : [undefined]).flatMap((target) => {
    const chains = [before, after].map(({ policies }) => chainOf(policies, target));
    const [old, now] = chains;
    const key = chains.map(chainKey).join("\n");
    if (old === undefined || now === undefined || seen.has(key)) return [];
    seen.add(key);
    const found = chainDiff(old, now, isMcp);
    undecided.push(...found.undecided);
    return found.differences.map((each) => accessDifference(subject, each, isMcp));
  });
  return {
    differences: [
      ...access,
      ...policyDifferences(subject, before.policies, after.policies),
      ...backendDifferences(subject, before, after),
    ],
    undecided,
  };
}

function accessDifference(
  subject: string,
  { direction, term, isPartial, example, before, after }: ChainDifference,
  isMcp: boolean,
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
    example: exampleText(example, isItem),
  };
}

function isNoItem({ mcp }: RequestData): boolean {
  return !["tool", "prompt", "resource"].some((kind) => Object(mcp)[kind] !== undefined);
}

/** The status with which the side that refuses does so. */
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
  if (reason.kind === "identity") return `without ${reason.variable} nobody passed`;
  if (reason.kind === "rule") return ruleReason(reason.rule, isAllowed);
  return isAllowed ? "no rule objected" : "no rule allowed it";
}

/** `tools/call get-x  as {"sub": "test-user"}` */
function exampleText(data: RequestData, isItem: boolean): string {
  const request: Readonly<Record<string, unknown>> = Object(data.request);
  const item = Object(data.mcp);
  const kinds = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const;
  const called = Object.entries(kinds).flatMap(([kind, method]) =>
    item[kind] === undefined ? [] : `${method} ${Object(item[kind]).name}`,
  );
  const head = isItem
    ? (called[0] ?? "tools/call")
    : `${request.method ?? "GET"} ${request.host === undefined ? "" : `//${request.host}`}${request.path ?? "/"}`;
  const headers = Object.entries(Object(request.headers)).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const address = Object(data.source).address;
  const who = [
    ...(data.jwt === undefined || data.jwt === null ? [] : [`as ${JSON.stringify(data.jwt)}`]),
    ...(data.apiKey === undefined || data.apiKey === null
      ? []
      : [`with an API key of ${JSON.stringify(data.apiKey)}`]),
    ...(data.basicAuth === undefined || data.basicAuth === null
      ? []
      : [`as user ${Object(data.basicAuth).username}`]),
    ...(address === undefined ? [] : [`from ${address}`]),
  ];
  return [head, ...headers, ...who].join("  ");
}

const OPPOSITE = { opens: "closes", closes: "opens", changes: "changes" } as const;

/** Policies that are gained, lost, or set otherwise. What identities and rules decide is said by their differences. */
export function policyDifferences(
  subject: string,
  before: readonly PolicyUse[],
  after: readonly PolicyUse[],
): readonly Difference[] {
  const lost = before
    .filter(({ kind }) => !after.some((each) => each.kind === kind))
    .filter((use) => !isDecided(use))
    .map((use) => goneOrNew(subject, use, "lost"));
  const gained = after
    .filter(({ kind }) => !before.some((each) => each.kind === kind))
    .filter((use) => !isDecided(use))
    .map((use) => goneOrNew(subject, use, "gained"));
  const kept = after.flatMap((use) => {
    const old = before.find(({ kind }) => kind === use.kind);
    return old === undefined ? [] : changedPolicy(subject, old, use);
  });
  return [...lost, ...gained, ...kept];
}

/** Whether all that a policy does is decided from its identities and rules. */
function isDecided<Kind extends PolicyKind>(use: PolicyUse<Kind>): boolean {
  const checks = accessOf(use);
  return checks.length > 0 && checks.every(({ kind }) => kind !== "outside");
}

function goneOrNew(
  subject: string,
  { kind, origin }: PolicyUse,
  what: "lost" | "gained",
): Difference {
  const direction: ChangeDirection = policyOf(kind).direction ?? "changes";
  return plainDifference(
    what === "gained" ? direction : OPPOSITE[direction],
    subject,
    `${kind} ${what === "gained" ? "added" : "removed"}`,
    { side: what === "gained" ? "after" : "before", origin, text: kind },
  );
}

function changedPolicy<Kind extends PolicyKind>(
  subject: string,
  found: PolicyUse,
  use: PolicyUse<Kind>,
): readonly Difference[] {
  // `as`: it was found by the kind
  const old = found as PolicyUse<Kind>;
  if (settingsKey(old.settings) === settingsKey(use.settings)) return [];
  const by: SidePlace = { side: "after", origin: use.origin, text: use.kind };
  const unit = policyOf(use.kind);
  const compared = unit.compare?.(old.settings, use.settings);
  if (compared !== undefined && (compared.length > 0 || isDecided(use)))
    return compared.map(({ direction, text }) =>
      plainDifference(direction, subject, `${use.kind}: ${text}`, by),
    );
  return changedFields(old.settings, use.settings).map((text) =>
    plainDifference("changes", subject, `${use.kind}: ${text}`, by),
  );
}

/** Where requests go, and how that is reached. */
function backendDifferences(subject: string, before: Served, after: Served): readonly Difference[] {
  if (settingsKey(before.backends) === settingsKey(after.backends)) return [];
  const [old, now] = [backendText(before), backendText(after)];
  const [first] = after.backends;
  const by: SidePlace | undefined = first && { side: "after", origin: first.origin, text: now };
  if (old !== now) return [plainDifference("changes", subject, `goes to ${old} -> ${now}`, by)];
  return changedFields(before.backends, after.backends).map((text) =>
    plainDifference("changes", subject, `backend: ${text}`, by),
  );
}

/** `http://a:80, http://b:80`: every server of a route. */
export function backendText({ backends }: Pick<Served, "backends">): string {
  const lines = backends.flatMap((node) => linesOf(node));
  return lines.length === 0 ? "no backend" : lines.join(", ");
}

function linesOf<Kind extends BackendKind>(node: BackendNode<Kind>): readonly string[] {
  return backendOf(node.kind)
    .describe(node)
    .map(({ label, address }) => {
      const where = address === undefined ? "" : textOf(address);
      return [label, where].filter((each) => each !== undefined && each !== "").join(" ");
    });
}

function textOf(text: Text): string {
  if (typeof text === "string") return text;
  return text.parts.map((part) => (typeof part === "string" ? part : `\${${part.env}}`)).join("");
}

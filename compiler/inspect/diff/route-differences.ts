import { unguarded, withoutToolSets } from "../../backends/index.ts";
import { accessOf, decidesAll } from "../../ir/access.ts";
import { backendText, mcpTargets, NO_BACKEND, servedTargets } from "../../ir/backend-text.ts";
import type { BackendNode } from "../../ir/backends.ts";
import { joinedPolicies } from "../../ir/joined-policies.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { RouteNode } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import { type ChangeDirection, listChanges, type SettingsChange } from "../../model/access.ts";
import { type PolicyKind, policyOf } from "../../policies/index.ts";
import type { Work } from "../effect/work/work.ts";
import { accessDifferences } from "./access-differences.ts";
import { chainOf } from "./chain.ts";
import { changedSettings } from "./changed-settings.ts";
import { type Difference, plainDifference, type SidePlace } from "./difference.ts";
import { guardDifferences } from "./guard-differences.ts";
import { lockDifferences, withoutLock } from "./lock-differences.ts";
import type { PairRegion } from "./pair-region.ts";
import { changesBeforeRules } from "./request-changes.ts";
import { endDirection, endsOf, endsText } from "./request-ends.ts";
import type { RoutedRequest } from "./route-pairs.ts";
import { toolSetChanges } from "./tool-set-changes.ts";

/** Policies and the backends after them. */
export type Served = Pick<RouteNode, "policies" | "backends" | "refusal">;

/** Compares two routes for the requests that reach them. */
export function routeDifferences(
  subject: string,
  before: Served,
  after: Served,
  /** An example of those requests. */
  sent: RoutedRequest | undefined,
  region: (() => PairRegion | undefined) | undefined,
  work: Work,
): { readonly differences: readonly Difference[]; readonly undecided: readonly string[] } {
  const targets = [before, after].flatMap(({ backends }) => backends.flatMap(servedTargets));
  const access = accessDifferences(
    subject,
    targets,
    (target) => [chainOf(before.policies, target), chainOf(after.policies, target)],
    sent,
    region,
    work,
  );
  const pairs = after.backends.flatMap((node) => {
    const old = formerOf(node, before.backends, after.backends);
    return old === undefined ? [] : [[old, node] as const];
  });
  return {
    differences: [
      ...access.differences,
      ...policyDifferences(subject, before.policies, after.policies),
      ...preflightDifferences(subject, before.policies, after.policies),
      ...pairs.flatMap(([old, node]) => lockDifferences(subject, old, node)),
      ...pairs.flatMap(([old, node]) => guardDifferences(subject, old, node)),
      ...(before.refusal === after.refusal
        ? backendDifferences(
            subject,
            before.backends.map((node) => unguarded(withoutLock(node))),
            after.backends.map((node) => unguarded(withoutLock(node))),
          )
        : [refusalDifference(subject, before, after)]),
    ],
    undecided: [...access.undecided, ...changesBeforeRules(before.policies, after.policies)],
  };
}

/** Finds the previous version of a backend: the one with the same MCP servers, else the one at the same index of its kind. */
function formerOf(
  node: BackendNode,
  before: readonly BackendNode[],
  after: readonly BackendNode[],
): BackendNode | undefined {
  const names = mcpTargets(node).join(" ");
  const alike = (each: BackendNode) =>
    each.kind === node.kind && mcpTargets(each).join(" ") === names;
  const same = before.filter(alike)[after.filter(alike).indexOf(node)];
  const ofKind = (each: BackendNode) => each.kind === node.kind;
  return same ?? before.filter(ofKind)[after.filter(ofKind).indexOf(node)];
}

/** Returns the effect on access of adding or removing a policy. */
export function policyDirection(kind: PolicyKind, what: "lost" | "gained"): ChangeDirection {
  const direction = policyOf(kind).access?.direction ?? "changes";
  return what === "gained" ? direction : OPPOSITE[direction];
}

/** Returns the effect on access of adding or removing a policy with its settings. */
function useDirection<Kind extends PolicyKind>(
  { kind, settings }: PolicyUse<Kind>,
  what: "lost" | "gained",
): ChangeDirection {
  const direction = policyOf(kind).access?.directionOf?.(settings);
  if (direction === undefined) return policyDirection(kind, what);
  return what === "gained" ? direction : OPPOSITE[direction];
}

const OPPOSITE = { opens: "closes", closes: "opens", changes: "changes" } as const;

/** Reports added, removed and changed policies, except identities and rules, which are compared by their decisions. */
export function policyDifferences(
  subject: string,
  partsBefore: readonly PolicyUse[],
  partsAfter: readonly PolicyUse[],
): readonly Difference[] {
  const [before, after] = [joinedPolicies(partsBefore), joinedPolicies(partsAfter)];
  const ends = endDirection(before, after);
  const lost = before
    .filter(({ kind }) => !after.some((each) => each.kind === kind))
    .filter((use) => !decidesAll(use))
    .map((use) => goneOrNew(subject, use, "lost", ends));
  const gained = after
    .filter(({ kind }) => !before.some((each) => each.kind === kind))
    .filter((use) => !decidesAll(use))
    .map((use) => goneOrNew(subject, use, "gained", ends));
  // A route's policy replaces its listener's, so policies of a kind are compared from the last one backwards.
  const changed = [...new Set(after.map(({ kind }) => kind))].flatMap((kind) => {
    const [olds, uses] = [before, after].map((all) => all.filter((each) => each.kind === kind));
    return (uses ?? []).toReversed().flatMap((use, at) => {
      const old = olds?.at(-1 - at);
      return old === undefined ? [] : changedPolicy(subject, old, use, ends);
    });
  });
  return [
    ...lost,
    ...gained,
    ...changed,
    ...clientHeaderDifferences(subject, before, after),
    ...sharingDifferences(subject, before, after),
  ];
}

/** Reports headers that clients can newly set or no longer set, although servers may trust them as set by the gateway. */
function clientHeaderDifferences(
  subject: string,
  before: readonly PolicyUse[],
  after: readonly PolicyUse[],
): readonly Difference[] {
  const names = (policies: readonly PolicyUse[]) =>
    new Map(policies.flatMap((use) => ownHeaders(use).map((name) => [name, use] as const)));
  const [old, now] = [names(before), names(after)];
  const place = (side: SidePlace["side"], { origin, kind }: PolicyUse): SidePlace => ({
    ...{ side, origin, text: kind },
  });
  return [
    ...[...old].flatMap(([name, use]) => {
      const text = `a client's own ${name} reaches the server`;
      return now.has(name) ? [] : plainDifference("opens", subject, text, place("before", use));
    }),
    ...[...now].flatMap(([name, use]) => {
      const text = `a client's own ${name} does not reach the server`;
      return old.has(name) ? [] : plainDifference("closes", subject, text, place("after", use));
    }),
  ];
}

function ownHeaders<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly string[] {
  return policyOf(kind).traits.ownHeaders?.(settings) ?? [];
}

/** Reports changed response headers that let pages of other origins read responses. */
function sharingDifferences(
  subject: string,
  before: readonly PolicyUse[],
  after: readonly PolicyUse[],
): readonly Difference[] {
  const shared = (policies: readonly PolicyUse[]) => policies.flatMap(sharesResponses);
  return listChanges("response header", shared(before), shared(after), "opens").map(
    ({ direction, text }) => plainDifference(direction, subject, text),
  );
}

function sharesResponses<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly string[] {
  return policyOf(kind).access?.sharesResponses?.(settings) ?? [];
}

/** Reports preflights that are newly refused, or no longer refused, before a policy answers them. */
function preflightDifferences(
  subject: string,
  before: readonly PolicyUse[],
  after: readonly PolicyUse[],
): readonly Difference[] {
  const [old, now] = [guardOfPreflights(before), guardOfPreflights(after)];
  if (old === now || old === undefined || now === undefined) return [];
  const by = after.find(({ kind }) => kind === now);
  const text = (guard: string) => (guard === "" ? "served" : `refused by ${guard}`);
  const direction = old === "" ? "closes" : now === "" ? "opens" : "changes";
  return [
    plainDifference(
      direction,
      subject,
      `preflights: ${text(old)} -> ${text(now)}`,
      by && { side: "after", origin: by.origin, text: by.kind },
    ),
  ];
}

/** Returns the first policy that refuses preflights before they are answered; "" if no policy does, `undefined` if none answers them. */
function guardOfPreflights(policies: readonly PolicyUse[]): PolicyKind | "" | undefined {
  const end = policies.findIndex(({ kind }) => policyOf(kind).traits.servesPreflights === true);
  if (end < 0) return undefined;
  const guard = policies
    .slice(0, end)
    .find((use) =>
      accessOf(use).some(
        (check) => check.kind === "rules" || (check.kind === "identity" && check.isRequired),
      ),
    );
  return guard?.kind ?? "";
}

function goneOrNew(
  subject: string,
  use: PolicyUse,
  what: "lost" | "gained",
  ends: ChangeDirection,
): Difference {
  const { kind, origin } = use;
  return plainDifference(
    endsOf(use) === undefined ? useDirection(use, what) : ends,
    subject,
    `${kind}${partsText(use)} ${what === "gained" ? "added" : "removed"}`,
    { side: what === "gained" ? "after" : "before", origin, text: kind },
  );
}

/** Names the policies that a use of several consists of; empty for others. */
function partsText<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>): string {
  const parts = policyOf(kind).traits.parts?.(settings) ?? [];
  return parts.length === 0 ? "" : ` (${parts.map(({ name }) => name).join(", ")})`;
}

function changedPolicy<Kind extends PolicyKind>(
  subject: string,
  found: PolicyUse,
  use: PolicyUse<Kind>,
  ends: ChangeDirection,
): readonly Difference[] {
  // `as`: it was found by its kind.
  const old = found as PolicyUse<Kind>;
  if (settingsKey(old.settings) === settingsKey(use.settings)) return [];
  const by: SidePlace = { side: "after", origin: use.origin, text: use.kind };
  const compare = policyOf(use.kind).access?.compare;
  const endsNow = endsOf(use);
  const isOtherEnd = endsNow !== undefined && ends !== "changes";
  const known = isOtherEnd
    ? [{ direction: ends, text: `${endsText(endsOf(old))} -> ${endsText(endsNow)}` }]
    : (compare?.changes(old.settings, use.settings) ?? []);
  const others =
    compare === undefined
      ? changedSettings(old.settings, use.settings)
      : changedSettings(
          compare.rest(old.settings, use.settings),
          compare.rest(use.settings, old.settings),
        );
  return [...known, ...others].map(({ direction, text, lines = [] }: SettingsChange) => ({
    ...plainDifference(direction, subject, `${use.kind}: ${text}`, by),
    lines,
  }));
}

/** Reports that a route starts or stops refusing all requests for lack of a backend. */
function refusalDifference(subject: string, before: Served, after: Served): Difference {
  const direction =
    after.refusal === undefined ? "opens" : before.refusal === undefined ? "closes" : "changes";
  const [first] = after.backends;
  const by: SidePlace | undefined = first && {
    ...{ side: "after", origin: first.origin, text: backendText(after.backends) },
  };
  return plainDifference(direction, subject, `${servedBy(before)} -> ${servedBy(after)}`, by);
}

const REFUSED = {
  notFound: "refused: 404, no route of the group",
  noBackend: "refused: 500, no backend",
} as const;

/** Describes what serves requests that pass the policies. */
export function servedBy({ policies, backends, refusal }: Served): string {
  if (refusal !== undefined) return REFUSED[refusal];
  if (backends.length > 0) return `served by ${backendText(backends)}`;
  const responding = policies.findLast(
    ({ kind }) => policyOf(kind).traits.isTerminal !== undefined,
  );
  return `served by ${responding?.kind ?? NO_BACKEND}`;
}

/** Compares the destinations of requests and their connection settings. */
function backendDifferences(
  subject: string,
  before: readonly BackendNode[],
  after: readonly BackendNode[],
): readonly Difference[] {
  if (settingsKey(before) === settingsKey(after)) return [];
  const [old, now] = [backendText(before), backendText(after)];
  const [first] = after;
  const by: SidePlace | undefined = first && { side: "after", origin: first.origin, text: now };
  const [targets, targetsNow] = [before, after].map((nodes) =>
    eachOnce(nodes.flatMap(servedTargets)),
  );
  const servers = listChanges("MCP server", targets ?? [], targetsNow ?? [], "opens");
  const rest = changedSettings(before.map(withoutToolSets), after.map(withoutToolSets));
  const settings = [...toolSetChanges(before, after), ...rest].filter(
    ({ direction }) => old === now || direction !== "changes",
  );
  const changes = [...servers, ...settings].map(({ direction, text }) =>
    plainDifference(direction, subject, `backend: ${text}`, by),
  );
  if (old === now) return changes;
  return [...changes, plainDifference("changes", subject, `goes to ${old} -> ${now}`, by)];
}

/** Numbers repeated names, since several backends may have servers of the same name. */
function eachOnce(names: readonly string[]): readonly string[] {
  return names.map((name, at) => {
    const before = names.slice(0, at).filter((each) => each === name).length;
    return before === 0 ? name : `${name} (of backend ${before + 1})`;
  });
}

import type { ChainSummary, GatewaySummary } from "../../4-emit/manifest/manifest-schema.ts";
import { compileRule } from "../../cel/compile.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import { listChanges } from "../../model/access.ts";
import type { Rule } from "../../model/rules.ts";
import { type PolicyKind, policies } from "../../policies/index.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { accessDifferences } from "./access-differences.ts";
import type { AccessChain } from "./chain.ts";
import {
  byRisk,
  type Difference,
  type ProgramDiff,
  plainDifference,
  type SidePlace,
} from "./difference.ts";
import { policyDirection } from "./route-differences.ts";

/** A side of a comparison that is known only from its `manifest.json`. */
export interface SummarySide {
  readonly summary: GatewaySummary;
  /** Source file. */
  readonly file: string;
}

type RouteSummary = GatewaySummary["routes"][number];

/**
 * Compares two gateways by their summaries. Rules are solved as for configurations; of policy settings only equality is
 * known.
 */
export function summaryDiff(before: SummarySide, after: SummarySide): ProgramDiff {
  const work = workOfCommand();
  const routes = routePairsOf(before.summary, after.summary).map(([old, now]) =>
    routeChanges(old, now, before, after, work),
  );
  const differences = [
    ...listenerChanges(before.summary, after.summary),
    ...listenerPolicyChanges(before.summary, after.summary),
    ...routes.flatMap((each) => each.differences),
    ...needChanges(before.summary.needs, after.summary.needs),
  ];
  const place: SidePlace = { side: "after", origin: originOf(after), text: after.file };
  return {
    differences: byRisk(differences.map((each) => ({ ...each, by: each.by ?? place }))),
    undecided: routes.flatMap((each) => each.undecided),
    changedRoutes: 0,
  };
}

function originOf({ file }: SummarySide): Origin {
  return { file, document: 0, path: [] };
}

/** Reports added, removed and changed listeners. */
function listenerChanges(before: GatewaySummary, after: GatewaySummary): readonly Difference[] {
  const named = ({ listeners, connections }: GatewaySummary) =>
    new Map([
      ...listeners.map(
        (each) =>
          [
            `listener ${each.hostname}:${each.port}`,
            JSON.stringify([each.address, each.protocol]),
          ] as const,
      ),
      ...connections.map(
        (each) => [`connections of ${each.hostname}:${each.port}`, each.settings] as const,
      ),
    ]);
  const [old, now] = [named(before), named(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((subject): readonly Difference[] => {
    const [from, to] = [old.get(subject), now.get(subject)];
    if (from === to) return [];
    if (from === undefined) return [plainDifference("opens", subject, "absent -> open")];
    if (to === undefined) return [plainDifference("closes", subject, "open -> absent")];
    return [plainDifference("changes", subject, "address, protocol or settings changed")];
  });
}

/** Reports changed policies of listeners that both sides have. */
function listenerPolicyChanges(
  { listeners: before }: GatewaySummary,
  { listeners: after }: GatewaySummary,
): readonly Difference[] {
  return after.flatMap((now) => {
    const old = before.find(({ hostname, port }) => hostname === now.hostname && port === now.port);
    return old === undefined ? [] : policyChanges(`listener ${now.hostname}:${now.port}`, old, now);
  });
}

/** Pairs routes by the requests that reach them, else by name. */
function routePairsOf(
  { routes: before }: GatewaySummary,
  { routes: after }: GatewaySummary,
): readonly (readonly [RouteSummary | undefined, RouteSummary | undefined])[] {
  const reach = ({ listeners, matches }: RouteSummary) => JSON.stringify([listeners, matches]);
  const left = new Set(before);
  const byReach = Map.groupBy(before, reach);
  const byName = Map.groupBy(before, ({ name }) => name);
  const pairs = after.map((now) => {
    const old = [byReach.get(reach(now)), byName.get(now.name)]
      .map((alike = []) => alike.find((each) => left.has(each)))
      .find((each) => each !== undefined);
    if (old !== undefined) left.delete(old);
    return [old, now] as const;
  });
  return [...pairs, ...[...left].map((old) => [old, undefined] as const)];
}

function routeChanges(
  old: RouteSummary | undefined,
  now: RouteSummary | undefined,
  before: SummarySide,
  after: SummarySide,
  work: Work,
): Pick<ProgramDiff, "differences" | "undecided"> {
  const subject = `route ${(now ?? old)?.name} (${(now ?? old)?.matches.join("; ")})`;
  const only = (direction: "opens" | "closes", change: string) => ({
    differences: [plainDifference(direction, subject, change)],
    undecided: [],
  });
  if (old === undefined) return only("opens", `404 -> served by ${now?.backends}`);
  if (now === undefined) return only("closes", `served by ${old.backends} -> 404`);
  const targets = [...(old.targets ?? []), ...(now.targets ?? [])];
  const chains = (target: string | undefined) =>
    [
      chainOfSummary(whole(old, before), target),
      chainOfSummary(whole(now, after), target),
    ] as const;
  const access = accessDifferences(subject, targets, chains, undefined, undefined, work);
  const reached = [
    ...listChanges("listener", old.listeners, now.listeners, "opens"),
    ...listChanges("match", old.matches, now.matches, "opens"),
  ].map(({ direction, text }) => plainDifference(direction, subject, text));
  const backends =
    old.backends === now.backends
      ? []
      : [plainDifference("changes", subject, `goes to ${old.backends} -> ${now.backends}`)];
  return {
    differences: [
      ...access.differences,
      ...reached,
      ...policyChanges(subject, old, now),
      ...backends,
    ],
    undecided: [
      ...access.undecided.map((text) => `${subject} depends on ${text}`),
      ...unknownSettings(subject, old, now),
    ],
  };
}

/** Returns the chains for a route's requests: its listener's, then its own. */
function whole(
  route: RouteSummary,
  side: SummarySide,
): readonly { readonly chain: ChainSummary; readonly origin: Origin }[] {
  const listener = side.summary.listeners.find(({ hostname, port }) =>
    route.listeners.includes(`${hostname}:${port}`),
  );
  const chains = listener === undefined ? [route] : [listener, route];
  return chains.map((chain) => ({ chain, origin: originOf(side) }));
}

function chainOfSummary(chains: ReturnType<typeof whole>, target: string | undefined): AccessChain {
  const stages = chains.flatMap(({ chain, origin }) => {
    const meant = chain.rules.filter(
      ({ targets }) => targets?.names.includes(target ?? "") !== (targets?.isExcluded ?? true),
    );
    return [...Map.groupBy(meant, ({ about }) => about)].map(([phase, rules]) => ({
      phase,
      rules: rules.map((rule) => compiled(rule, origin)),
    }));
  });
  return { identities: chains.flatMap(({ chain }) => chain.identities), stages };
}

function compiled(
  { about, action, expression: text }: ChainSummary["rules"][number],
  origin: Origin,
): Rule {
  const { expression, cases } = compileRule(text, about, action);
  if (expression === undefined) throw new Error(`a rule of a bundle does not compile: ${text}`);
  return { action, text, expression, cases, origin };
}

/** Reports added, removed and changed policies, except identities and rules, which are compared by their decisions. */
function policyChanges(
  subject: string,
  before: ChainSummary,
  after: ChainSummary,
): readonly Difference[] {
  const known = policies.map(({ kind }) => kind);
  return known.flatMap((kind: PolicyKind): readonly Difference[] => {
    const [from, to] = [before.policies[kind], after.policies[kind]];
    if (from === to || (from ?? to) === "rules") return [];
    if (from === undefined || to === undefined) {
      const [what, text] =
        from === undefined ? (["gained", "added"] as const) : (["lost", "removed"] as const);
      return [plainDifference(policyDirection(kind, what), subject, `${kind} ${text}`)];
    }
    const parts = partChanges(before.parts?.[kind], after.parts?.[kind]);
    const texts = parts.length === 0 ? ["settings changed"] : parts;
    return texts.map((text) => plainDifference("changes", subject, `${kind}: ${text}`));
  });
}

type Parts = NonNullable<ChainSummary["parts"]>[string];

/** Lists changes of custom policies, by name. */
function partChanges(before: Parts = {}, after: Parts = {}): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    if (old === undefined || now === undefined)
      return [`policy ${name} ${old === undefined ? "added" : "removed"}`];
    const code = `code of ${name} changed: its effect on access is not decided`;
    return [
      ...(old.code === now.code ? [] : [code]),
      ...(old.settings === now.settings ? [] : [`settings of ${name} changed`]),
    ];
  });
}

/** Lists changed settings that may open access; a manifest does not contain them. */
function unknownSettings(
  subject: string,
  before: RouteSummary,
  after: RouteSummary,
): readonly string[] {
  return policies.flatMap((policy) => {
    const [from, to] = [before.policies[policy.kind], after.policies[policy.kind]];
    if (from === to || from === undefined || to === undefined || to === "rules") return [];
    return "direction" in policy || "ends" in policy || "changesRequest" in policy
      ? `${subject}: the settings of ${policy.kind}, which a manifest does not contain`
      : [];
  });
}

function needChanges(
  before: GatewaySummary["needs"],
  after: GatewaySummary["needs"],
): readonly Difference[] {
  return [
    ...listChanges("variable", before.variables, after.variables, "changes"),
    ...listChanges("file", before.files, after.files, "changes"),
  ].map(({ direction, text }) => plainDifference(direction, "to start", text));
}

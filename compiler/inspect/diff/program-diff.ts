import { decidesAll } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { Program } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import type { TcpBindNode } from "../../ir/tcp.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { accessDifferences } from "./access-differences.ts";
import { bindDifferences } from "./bind-differences.ts";
import { chainOf } from "./chain.ts";
import { changedSettings } from "./changed-settings.ts";
import { byRisk, type Difference, type ProgramDiff, plainDifference } from "./difference.ts";
import { isDivided, tlsOf } from "./divided-tls.ts";
import type { OpenQuestions } from "./open-questions.ts";
import { withPortConnections } from "./port-connections.ts";
import { needDifferences, processDifferences, storeDifferences } from "./process-differences.ts";
import { proxyChanges } from "./proxy-changes.ts";
import { routeKey } from "./route-key.ts";
import { shortList } from "./short-list.ts";

/** Compares two programs; the riskiest differences come first. */
export function programDiff(
  earlier: Program,
  later: Program,
  work: Work = workOfCommand(),
): ProgramDiff {
  const [before, after] = withPortConnections(earlier, later);
  const undecided: string[] = [];
  const open: OpenQuestions = { undecided, work };
  const ports = new Set([...before.binds, ...after.binds].map(({ port }) => port));
  const requests = [...ports].flatMap((port) => {
    const [old, now] = [before, after].map(({ binds }) => binds.find((each) => each.port === port));
    const forwards = ({ tcp }: Program) => tcp.some((each) => each.port === port);
    return bindDifferences(port, old, now, [forwards(before), forwards(after)], open);
  });
  const served = [before, after].map(({ binds }) => new Set(binds.map(({ port }) => port)));
  const differences = [
    ...requests,
    ...tcpDifferences(before.tcp, after.tcp, served, open),
    ...needDifferences(before, after),
    ...processDifferences(before, after),
    ...storeDifferences(before, after),
  ];
  return {
    differences: byRisk(grouped(differences)),
    undecided: [...new Set(undecided)],
    changedRoutes: changedRoutes(before, after),
  };
}

/** Merges equal differences of at least 3 routes. */
function grouped(differences: readonly Difference[]): readonly Difference[] {
  const groups = Map.groupBy(differences, ({ direction, change, when, unless, by, was }) =>
    JSON.stringify([direction, change, when, unless, by?.text, was]),
  );
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    const subjects = [...new Set(same.map(({ subject }) => subject))];
    if (first === undefined || subjects.length < 3) return same;
    return [{ ...first, subject: `in ${subjects.length} places: ${shortList(subjects)}` }];
  });
}

/** Counts routes whose configuration is new; their effect may be unchanged. */
function changedRoutes(before: Program, after: Program): number {
  const texts = ({ binds }: Program) =>
    binds.flatMap(({ listeners }) => listeners.flatMap(({ routes }) => routes)).map(routeKey);
  const known = new Set(texts(before));
  return texts(after).filter((text) => !known.has(text)).length;
}

/** Compares the ports that forward connections; adds undecided questions to `open`. */
function tcpDifferences(
  before: readonly TcpBindNode[],
  after: readonly TcpBindNode[],
  /** HTTP ports before and after. */
  [wasServed, isServed]: readonly ReadonlySet<number>[],
  open: OpenQuestions,
): readonly Difference[] {
  const ports = new Set([...before, ...after].map(({ port }) => port));
  return [...ports].flatMap((port): readonly Difference[] => {
    const [old, now] = [before, after].map((binds) => binds.find((each) => each.port === port));
    const subject = `port ${port} (connections)`;
    if (settingsKey(old) === settingsKey(now)) return [];
    const by = now && ({ side: "after", origin: now.origin, text: subject } as const);
    if (old === undefined) {
      const before = wasServed?.has(port) === true ? "no names forwarded" : "nothing listened";
      return [plainDifference("opens", subject, `${before} -> forwards connections`, by)];
    }
    if (now === undefined) {
      const left = isServed?.has(port) === true ? "no names forwarded" : "nothing listens";
      return [plainDifference("closes", subject, `forwards connections -> ${left}`)];
    }
    const areDivided = [old, now].some(isDivided);
    const settings = [
      ...changedSettings(withoutAccess(old, areDivided), withoutAccess(now, areDivided)),
      ...proxyChanges(old.proxyProtocol, now.proxyProtocol),
    ].map(({ direction, text }) => plainDifference(direction, subject, text, by));
    return [...whoMayConnect(old, now, open), ...settings];
  });
}

/** Compares access to the routes that both sides have. */
function whoMayConnect(
  before: TcpBindNode,
  after: TcpBindNode,
  open: OpenQuestions,
): readonly Difference[] {
  const known = routesOf(before);
  return [...routesOf(after)].flatMap(([route, policies]) => {
    const old = known.get(route);
    if (old === undefined) return [];
    const subject = `route ${route} (:${after.port} connections)`;
    const chains = [chainOf(old, undefined), chainOf(policies, undefined)] as const;
    const found = accessDifferences(subject, [], () => chains, undefined, undefined, open.work);
    open.undecided.push(...found.undecided);
    return found.differences.map(ofConnection);
  });
}

/** Rephrases a difference for connections, which have no requests and statuses. */
function ofConnection(found: Difference): Difference {
  const { direction, example } = found;
  return {
    ...found,
    change: direction === "opens" ? "closed -> forwarded" : "forwarded -> closed",
    ...(example && { example: example.replace(/^GET \/ */, "a connection ").trim() }),
  };
}

/** Returns the policies for the connections of each route, by route name. */
function routesOf({ listeners }: TcpBindNode): ReadonlyMap<string, readonly PolicyUse[]> {
  return new Map(
    listeners.flatMap(({ admission, routes }) =>
      routes.map(({ name, policies }) => [name, [...admission, ...policies]] as const),
    ),
  );
}

/** Returns the settings of a port without names of listeners, access policies and PROXY protocol; with `isByListener`, TLS is compared for each listener. */
function withoutAccess(
  { listeners, proxyProtocol: _, mode, ...bind }: TcpBindNode,
  isByListener: boolean,
): object {
  const left = (policies: readonly PolicyUse[]) => policies.filter((use) => !decidesAll(use));
  const ofPort = mode.kind === "terminate" && isByListener ? mode.tls : undefined;
  return {
    ...bind,
    mode: isByListener ? mode.kind : mode,
    listeners: listeners.map(
      ({ id: __, name: ___, admission: ____, handshake, routes, ...listener }) => ({
        ...listener,
        tls: tlsOf({ tls: listener.tls, ...(handshake && { handshake }) }, ofPort),
        routes: routes.map((route) => ({ ...route, policies: left(route.policies) })),
      }),
    ),
  };
}

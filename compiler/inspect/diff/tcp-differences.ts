import { decidesAll } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import type { TcpBindNode } from "../../ir/tcp.ts";
import { accessDifferences } from "./access-differences.ts";
import { chainOf } from "./chain.ts";
import { changedSettings } from "./changed-settings.ts";
import { type Difference, plainDifference } from "./difference.ts";
import { isDivided, tlsOf } from "./divided-tls.ts";
import type { OpenQuestions } from "./open-questions.ts";
import { proxyChanges } from "./proxy-changes.ts";

/** What ports do differently that pass connections on; what can't be decided is added to `open`. */
export function tcpDifferences(
  before: readonly TcpBindNode[],
  after: readonly TcpBindNode[],
  /** The ports that serve requests, before and after. */
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
      const before = wasServed?.has(port) === true ? "no names passed on" : "nothing listened";
      return [plainDifference("opens", subject, `${before} -> passes connections on`, by)];
    }
    if (now === undefined) {
      const left = isServed?.has(port) === true ? "no names passed on" : "nothing listens";
      return [plainDifference("closes", subject, `passes connections on -> ${left}`)];
    }
    const areDivided = [old, now].some(isDivided);
    const settings = [
      ...changedSettings(withoutAccess(old, areDivided), withoutAccess(now, areDivided)),
      ...proxyChanges(old.proxyProtocol, now.proxyProtocol),
    ].map(({ direction, text }) => plainDifference(direction, subject, text, by));
    return [...whoMayConnect(old, now, open), ...settings];
  });
}

/** Who may connect to routes of both sides. */
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

/** Nobody sends a request there, and nobody is told a status. */
function ofConnection(found: Difference): Difference {
  const { direction, example } = found;
  return {
    ...found,
    change: direction === "opens" ? "closed -> passed on" : "passed on -> closed",
    ...(example && { example: example.replace(/^GET \/ */, "a connection ").trim() }),
  };
}

/** The routes of a port by name, each with what decides about its connections. */
function routesOf({ listeners }: TcpBindNode): ReadonlyMap<string, readonly PolicyUse[]> {
  return new Map(
    listeners.flatMap(({ admission, routes }) =>
      routes.map(({ name, policies }) => [name, [...admission, ...policies]] as const),
    ),
  );
}

/** Without what is said by who may connect, and of proxies; `isByListener`: TLS is compared for each listener. */
function withoutAccess(
  { listeners, proxyProtocol: _, mode, ...bind }: TcpBindNode,
  isByListener: boolean,
): object {
  const left = (policies: readonly PolicyUse[]) => policies.filter((use) => !decidesAll(use));
  const ofPort = mode.kind === "terminate" && isByListener ? mode.tls : undefined;
  return {
    ...bind,
    mode: isByListener ? mode.kind : mode,
    listeners: listeners.map(({ admission: __, handshake, routes, ...listener }) => ({
      ...listener,
      tls: tlsOf({ tls: listener.tls, ...(handshake && { handshake }) }, ofPort),
      routes: routes.map((route) => ({ ...route, policies: left(route.policies) })),
    })),
  };
}

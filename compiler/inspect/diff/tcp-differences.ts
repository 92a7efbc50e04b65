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

/** Compares the ports that forward connections; adds undecided questions to `open`. */
export function tcpDifferences(
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

/** Returns the settings of a port without access policies and PROXY protocol; with `isByListener`, TLS is compared for each listener. */
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

import { policiesBefore } from "../../ir/access.ts";
import type { BindNode, ListenerNode } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import type { TlsNode } from "../../ir/tls.ts";
import { policyOf } from "../../policies/index.ts";
import { chainOf } from "./chain.ts";
import { chainDiff } from "./chain-differences.ts";
import { changedSettings } from "./changed-settings.ts";
import { type Difference, plainDifference, type SidePlace } from "./difference.ts";
import { isDivided, tlsOf } from "./divided-tls.ts";
import { type ListenerPair, listenerPairs } from "./listener-pairs.ts";
import type { OpenQuestions } from "./open-questions.ts";
import { answeredBy, guardsText, pairDifferences, requestText } from "./pair-differences.ts";
import { proxyChanges } from "./proxy-changes.ts";
import { changesBeforeRouting } from "./request-changes.ts";
import { policyDifferences } from "./route-differences.ts";
import { routePairs } from "./route-pairs.ts";

/** Compares an HTTP port; adds undecided questions to `open`. */
export function bindDifferences(
  port: number,
  before: BindNode | undefined,
  after: BindNode | undefined,
  /** Whether the port forwards connections as TCP, before and after. */
  forwards: readonly [before: boolean, after: boolean],
  open: OpenQuestions,
): readonly Difference[] {
  if (settingsKey(before) === settingsKey(after)) return [];
  const subject = `port ${port}`;
  const [wasForwarded, isForwarded] = forwards;
  if (before === undefined && after !== undefined) {
    const by: SidePlace = { side: "after", origin: after.origin, text: "a new port" };
    if (wasForwarded)
      return [plainDifference("closes", subject, "connections forwarded unread -> served", by)];
    const opened = listenerPairs(before, after).flatMap((pair) =>
      openListener(port, pair, by, open),
    );
    const empty = plainDifference("opens", `${subject} (new)`, "nothing listened -> 404", by);
    return opened.length > 0 ? opened : [empty];
  }
  if (before !== undefined && after === undefined) {
    const by: SidePlace = { side: "before", origin: before.origin, text: "the port" };
    return isForwarded
      ? [plainDifference("opens", subject, "served -> connections forwarded unread", by)]
      : [plainDifference("closes", subject, "served -> nothing listens", by)];
  }
  const tls = [before, after].some(isDivided) ? ([before?.tls, after?.tls] as const) : undefined;
  const listeners = listenerPairs(before, after).flatMap((pair) =>
    listenerDifferences(port, pair, tls, open),
  );
  const settings = [
    ...changedSettings(settingsOf(before, tls), settingsOf(after, tls)),
    ...proxyChanges(before?.proxyProtocol, after?.proxyProtocol),
  ].map(({ direction, text }) =>
    plainDifference(
      direction,
      subject,
      text,
      after && { side: "after", origin: after.origin, text: subject },
    ),
  );
  return [...listeners, ...settings];
}

/** TLS of a port before and after, if it differs between listeners; `undefined` if it does not. */
type DividedTls = readonly [before: TlsNode | undefined, after: TlsNode | undefined] | undefined;

/**
 * Returns the settings of a port that are independent of its listeners, except the PROXY protocol. With `divided`, TLS is
 * compared for each listener instead.
 */
function settingsOf(bind: BindNode | undefined, divided: DividedTls): object {
  const {
    port: _,
    listeners: __,
    proxyProtocol: ___,
    hostnames: ____,
    address,
    tls,
    ...rest
  } = bind ?? {};
  return { ...rest, ...(divided ? {} : { tls }), address: address ?? "every address" };
}

/** Reports what a listener serves on a new port. */
function openListener(
  port: number,
  pair: ListenerPair,
  by: SidePlace,
  open: OpenQuestions,
): readonly Difference[] {
  const { after: listener } = pair;
  if (listener === undefined) return [];
  const scheme = listener.tls === undefined ? "http" : "https";
  const { pairs, undecided } = routePairs(pair, open.work);
  open.undecided.push(...undecided);
  return pairs.flatMap(({ after: route, requests }) => {
    const [request] = requests;
    if (route === undefined || request === undefined) return [];
    const change = `nothing listened -> ${answeredBy(listener, route)}`;
    return {
      ...plainDifference("opens", `port ${port} (new)`, change, by),
      when: [guardsText(listener, route)],
      example: requestText(request, `${scheme}://${request.host}:${port}`),
    };
  });
}

function listenerDifferences(
  port: number,
  pair: ListenerPair,
  tls: DividedTls,
  open: OpenQuestions,
): readonly Difference[] {
  const { before, after } = pair;
  const hostname = narrower(before?.hostname ?? "*", after?.hostname ?? "*");
  const where = hostname === "*" ? `:${port}` : `${hostname}:${port}`;
  const { pairs, undecided } = routePairs(pair, open.work);
  open.undecided.push(...undecided);
  open.undecided.push(...changesBeforeRouting(pair).map((text) => `listener ${where}: ${text}`));
  const routes = pairs.flatMap((each) => pairDifferences(each, where, pair, open));
  if (before === undefined || after === undefined)
    return routes.length > 0 ? routes : edgeDifferences(`listener ${where}`, pair);
  const own = ownDifferences(`listener ${where}`, before, after, tls);
  const reported = new Set(own.map(changeKey));
  const rest = routes.filter((each) => !reported.has(changeKey(each)));
  if (rest.length + own.length > 0) return [...rest, ...own];
  return unroutedDifferences(`listener ${where}`, before, after, open);
}

/** Reports the policies of a new or removed listener, for hosts without routes. */
function edgeDifferences(
  listener: string,
  { before, after, isPassedOn }: ListenerPair,
): readonly Difference[] {
  const node = after ?? before;
  const other = isPassedOn ? "connections forwarded unread" : "404";
  const kinds = policiesBefore(node).map(({ kind }) => kind);
  if (node === undefined || kinds.length === 0) return [];
  const isServing = kinds.some((kind) => policyOf(kind).traits.servesPreflights === true);
  const text = `before routing: ${kinds.join(", ")}`;
  const by: SidePlace = { side: after ? "after" : "before", origin: node.origin, text: listener };
  return [
    after === undefined
      ? plainDifference(isServing ? "closes" : "changes", listener, `${text} -> ${other}`, by)
      : plainDifference(isServing ? "opens" : "changes", listener, `${other} -> ${text}`, by),
  ];
}

/** Returns the narrower of two patterns that cover the same host. */
function narrower(a: string, b: string): string {
  return a.length > b.length ? a : b;
}

/** Identifies a change, so that a listener's change is not repeated for each of its routes. */
function changeKey({ direction, change }: Difference): string {
  return `${direction} ${change}`;
}

/** Compares the policies and settings of a listener. */
function ownDifferences(
  listener: string,
  before: ListenerNode,
  after: ListenerNode,
  [tlsBefore, tlsAfter]: NonNullable<DividedTls> = [undefined, undefined],
): readonly Difference[] {
  const policies = policyDifferences(listener, policiesBefore(before), policiesBefore(after));
  const rest = changedSettings(ownSettings(before, tlsBefore), ownSettings(after, tlsAfter)).map(
    ({ direction, text }) => plainDifference(direction, listener, text, placeOf(after, listener)),
  );
  return [...policies, ...rest];
}

/** Returns the settings of a listener besides policies and routes; `ofPort` is the TLS that it has without its own. */
function ownSettings(listener: ListenerNode, ofPort: TlsNode | undefined): object {
  const { id: _, name: __, hostname: ___, admission: ____, ...rest } = listener;
  const { preRouting: _____, routes: ______, table: _______, handshake: ________, ...own } = rest;
  const { pathHandling, ...settings } = own;
  return { ...settings, tls: tlsOf(listener, ofPort), paths: pathHandling };
}

/** Reports changed refusals by a listener's policies for requests without a route. */
function unroutedDifferences(
  listener: string,
  before: ListenerNode,
  after: ListenerNode,
  { work }: OpenQuestions,
): readonly Difference[] {
  const [old, now] = [before, after].map((listener) =>
    chainOf(policiesBefore(listener), undefined),
  );
  if (old === undefined || now === undefined) return [];
  const { differences, undecided } = chainDiff(old, now, false, undefined, work);
  if (differences.length + undecided.length === 0) return [];
  const change = "requests without a route are refused for another reason";
  return [plainDifference("changes", listener, change, placeOf(after, listener))];
}

function placeOf({ origin }: ListenerNode, text: string): SidePlace {
  return { side: "after", origin, text };
}

import type { BindNode, ListenerNode } from "../../ir/program.ts";
import { holderOf } from "../routing/match-request.ts";

/** The listeners that serve the same hosts before and after; `undefined` if there is no listener. */
export interface ListenerPair {
  readonly before: ListenerNode | undefined;
  readonly after: ListenerNode | undefined;
  /** Whether TLS for the hosts is passed through on a side without a listener. */
  readonly isPassedOn: boolean;
  /** An example host for each class that listeners and routes distinguish. */
  readonly hosts: readonly HostExample[];
}

/** An example host. */
export interface HostExample {
  readonly host: string;
  /** Whether it represents every host, because no pattern names one. */
  readonly isAny: boolean;
}

/** Pairs the listeners of a port by the hosts that they serve. */
export function listenerPairs(
  before: BindNode | undefined,
  after: BindNode | undefined,
): readonly ListenerPair[] {
  const [old, now] = [before?.listeners ?? [], after?.listeners ?? []];
  const names = new Set([
    ...[...old, ...now].flatMap(({ table }) => table.map(({ shared }) => shared)),
    ...[before, after].flatMap((bind) => bind?.hostnames.map(({ hostname }) => hostname) ?? []),
  ]);
  const pairs = new Map<string, { readonly pair: ListenerPair; readonly hosts: HostExample[] }>();
  for (const pattern of names) {
    const host = hostOf(pattern, names);
    const holders = [before, after].map((bind) => bind && holderOf(bind, host));
    const isPassedOn = holders.includes("passedOn");
    const [a, b] = holders.map((holder) => (holder === "passedOn" ? undefined : holder));
    if (a === undefined && b === undefined) continue;
    const key = `${a?.id}\n${b?.id}\n${isPassedOn}`;
    const found = pairs.get(key);
    const own = found?.hosts ?? [];
    own.push({ host, isAny: names.size === 1 && pattern === "*" });
    if (found === undefined)
      pairs.set(key, { pair: { before: a, after: b, isPassedOn, hosts: own }, hosts: own });
  }
  return [...pairs.values()].map(({ pair }) => pair);
}

/**
 * Returns a host that matches a pattern but no narrower one. A narrower pattern covers a name of one more label only if it is
 * that name; names under `*` are also covered by wildcards of their domain, so another domain is tried: `other.example` if
 * there is `*.test`. Each pattern excludes at most one candidate, so the search terminates.
 */
function hostOf(pattern: string, patterns: ReadonlySet<string>): string {
  if (!pattern.startsWith("*")) return pattern;
  const isAny = pattern === "*";
  const words = isAny ? ["test", "example", "invalid"] : ["other"];
  for (let at = 0; ; at += 1) {
    const word = words[at] ?? `other${at - words.length + 2}`;
    const host = isAny ? `other.${word}` : pattern.replace("*", word);
    const isTaken = patterns.has(host) || (isAny && patterns.has(`*.${word}`));
    if (!isTaken) return host;
  }
}

import type { BindNode, ListenerNode } from "../../ir/program.ts";
import { holderOf } from "../routing/match-request.ts";

/** The listeners that answer the same hosts before and after; undefined: none does. */
export interface ListenerPair {
  readonly before: ListenerNode | undefined;
  readonly after: ListenerNode | undefined;
  /** Where there is none, TLS for the hosts is passed on, and whoever is behind it answers. */
  readonly isPassedOn: boolean;
  /** A host of each kind that listeners and routes tell apart. */
  readonly hosts: readonly HostExample[];
}

/** A host that requests may be for. */
export interface HostExample {
  readonly host: string;
  /** No pattern names any host: it stands for every one. */
  readonly isAny: boolean;
}

/** Which listeners of a port answer which hosts: a host that gets a listener of its own had another one before. */
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
 * A host that fits a pattern and no narrower one. A narrower pattern covers a name of one more label only if it is that
 * name; every name under `*` is also covered by the wildcard of its domain, so another domain is tried: `other.example`
 * where there is `*.test`. Each pattern excludes one candidate at most, so the search ends.
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

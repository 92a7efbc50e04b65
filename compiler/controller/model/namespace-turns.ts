import type { Snapshot, SnapshotObject } from "./snapshot.ts";

/** Input of a compilation: the newest state of some namespaces, and the previous state of those that wait. */
export interface NamespaceTurn {
  readonly snapshot: Snapshot;
  /** Namespaces whose changes are compiled; empty for the first compilation. */
  readonly namespaces: readonly string[];
}

/** The next turn, and the milliseconds until others have theirs; both `undefined` if nothing has changed. */
interface NextTurn {
  readonly turn: NamespaceTurn | undefined;
  readonly wait: number | undefined;
}

/** Milliseconds beyond the baseline that compiling the changes of a namespace may take. */
const TOLERATED = 300;
/** Wait of a namespace in multiples of the time of its compilation: it gets a fifth of the compiler's time. */
const SHARE = 4;
/** Longest wait in milliseconds. */
const MAX_WAIT = 60_000;
/** Factor by which the baseline may grow with each compilation, because clusters grow. */
const GROWTH = 1.05;

/**
 * Decides whose changes are compiled next. A compilation cannot be interrupted, so a tenant who edits an expensive object
 * all the time would hold up everybody. Namespaces whose changes took long are compiled alone and wait in proportion;
 * until then, all of their objects keep their previous state, so that a route is never served without its new policy.
 */
export class NamespaceTurns {
  /** Snapshot that was compiled last. */
  #compiled: Snapshot | undefined;
  /** When the next changes of expensive namespaces are compiled, in milliseconds of `performance.now()`. */
  readonly #waits: Map<string, number> = new Map();
  /** Milliseconds of a compilation of cheap changes. */
  #baseline = Number.POSITIVE_INFINITY;
  /** The next compilation has no cached results: its time says nothing about the changes. */
  #isFresh = true;

  /** Number of namespaces whose changes wait. */
  waiting(now: number): number {
    return [...this.#waits.values()].filter((until) => until > now).length;
  }

  /** Returns what is compiled next. `isOutdated`: even if no object has changed. */
  next(newest: Snapshot, now: number, isOutdated: boolean): NextTurn {
    const before = this.#compiled;
    const changed = before === undefined ? [] : changedNamespaces(before, newest);
    if (before === undefined || (isOutdated && changed.length === 0))
      return { turn: { snapshot: newest, namespaces: [] }, wait: undefined };
    this.#forget(changed, now);
    const dueAt = (namespace: string) => this.#waits.get(namespace) ?? Number.NEGATIVE_INFINITY;
    const cheap = changed.filter((each) => !this.#waits.has(each));
    const [first] = changed.toSorted((a, b) => dueAt(a) - dueAt(b));
    const alone = first !== undefined && dueAt(first) <= now ? [first] : [];
    const namespaces = cheap.length > 0 ? cheap : alone;
    const others = changed.filter((each) => !namespaces.includes(each));
    const due = Math.min(...others.map(dueAt));
    return {
      wait: others.length === 0 ? undefined : Math.max(0, due - now),
      turn:
        namespaces.length === 0
          ? undefined
          : { namespaces, snapshot: withPrevious(newest, before, new Set(others)) },
    };
  }

  /** Forgets namespaces that have been quiet for long. */
  #forget(changed: readonly string[], now: number): void {
    for (const [namespace, until] of this.#waits)
      if (until + MAX_WAIT < now && !changed.includes(namespace)) this.#waits.delete(namespace);
  }

  /** A turn was compiled in so many milliseconds. Returns how long its namespace waits now, if it is expensive. */
  compiled({ snapshot, namespaces }: NamespaceTurn, took: number, now: number): number | undefined {
    this.#compiled = snapshot;
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    if (isFresh) return undefined;
    this.#baseline = Math.min(took, this.#baseline * GROWTH);
    const beyond = took - this.#baseline;
    const isExpensive = beyond > TOLERATED * namespaces.length;
    const [only] = namespaces;
    if (only === undefined || namespaces.length > 1) {
      // One of them is expensive: they are compiled alone until that one is known.
      if (isExpensive) for (const each of namespaces) this.#waits.set(each, now);
      return undefined;
    }
    if (!isExpensive) {
      this.#waits.delete(only);
      return undefined;
    }
    const wait = Math.min(MAX_WAIT, beyond * SHARE);
    this.#waits.set(only, now + wait);
    return wait;
  }

  /**
   * A turn ended the compiler: a bug, or too little memory. Returns whether that can be avoided, because the objects of
   * one namespace, which wait from now on, or of several, which are compiled alone, were changed.
   */
  failed({ namespaces }: NamespaceTurn, now: number): boolean {
    this.#isFresh = true;
    const wait = namespaces.length === 1 ? MAX_WAIT : 0;
    for (const each of namespaces) this.#waits.set(each, now + wait);
    return namespaces.length > 0;
  }
}

function changedNamespaces(before: Snapshot, newest: Snapshot): readonly string[] {
  const changed = new Set<string>();
  for (const [path, { text, namespace }] of newest)
    if (before.get(path)?.text !== text) changed.add(namespace);
  for (const [path, { namespace }] of before) if (!newest.has(path)) changed.add(namespace);
  return [...changed];
}

/** Returns a snapshot in which some namespaces have their previous state. */
function withPrevious(
  newest: Snapshot,
  before: Snapshot,
  namespaces: ReadonlySet<string>,
): Snapshot {
  if (namespaces.size === 0) return newest;
  const isHeld = ([, { namespace }]: readonly [string, SnapshotObject]) =>
    namespaces.has(namespace);
  const taken = [...newest].filter((each) => !isHeld(each));
  return new Map([...taken, ...[...before].filter(isHeld)]);
}

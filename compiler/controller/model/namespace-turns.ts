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
/** Longest wait in milliseconds, and the longest one after compilations that had no end. */
const MAX_WAIT = 60_000;
const MAX_FAILED_WAIT = 3_600_000;
/** Milliseconds of a processor that a compilation may always take, and the same in multiples of a complete one. */
const MIN_LIMIT = 15_000;
const LIMIT_SHARE = 4;
/** Factor by which the first of these grows with each failure, and its maximum: much may be new at once. */
const LIMIT_GROWTH = 4;
const MAX_LIMIT = 60_000;
/** Factor by which the baseline may grow with each compilation, because clusters grow. */
const GROWTH = 1.05;

/**
 * Decides whose changes are compiled next. A compilation cannot be paused, so a tenant who edits an expensive object
 * all the time would hold up everybody. Namespaces whose changes took long are compiled alone and wait in proportion;
 * until then, all of their objects keep their previous state, so that a route is never served without its new policy.
 */
export class NamespaceTurns {
  /** Snapshot that was compiled last. */
  #compiled: Snapshot | undefined;
  /** When the next changes of expensive namespaces are compiled, in milliseconds of `performance.now()`. */
  readonly #waits: Map<string, number> = new Map();
  /** Number of successive compilations that the changes of a namespace have ended. */
  readonly #failures: Map<string, number> = new Map();
  /** Milliseconds of a compilation of cheap changes. */
  #baseline = Number.POSITIVE_INFINITY;
  /** Namespaces of the last compilation if it was expensive; its objects may make every later one longer. */
  #expensive: readonly string[] = [];
  /** The next compilation has no cached results: its time says nothing about the changes. */
  #isFresh = true;
  /** Milliseconds of the last compilation without cached results. */
  #fresh = 0;

  /** Returns until when the next changes of namespaces wait, in milliseconds of `performance.now()`. */
  waiting(now: number): ReadonlyMap<string, number> {
    return new Map([...this.#waits].filter(([, until]) => until > now));
  }

  /**
   * Returns the milliseconds of a processor after which a compilation is ended; `undefined` if it is not, because
   * nothing is known that could be compiled without its changes.
   */
  limitOf({ namespaces }: NamespaceTurn): number | undefined {
    if (namespaces.length === 0) return undefined;
    const failures = Math.max(...namespaces.map((each) => this.#failures.get(each) ?? 0));
    const least = Math.min(MAX_LIMIT, MIN_LIMIT * LIMIT_GROWTH ** failures);
    return Math.max(least, LIMIT_SHARE * this.#fresh);
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
      if (until + MAX_WAIT < now && !changed.includes(namespace)) {
        this.#waits.delete(namespace);
        this.#failures.delete(namespace);
      }
  }

  /** A turn took so many milliseconds of a processor. Returns how long its namespace waits now, if it is expensive. */
  compiled({ snapshot, namespaces }: NamespaceTurn, took: number, now: number): number | undefined {
    this.#compiled = snapshot;
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    for (const each of namespaces) this.#failures.delete(each);
    if (isFresh) {
      this.#fresh = took;
      return undefined;
    }
    const before = this.#expensive;
    const isAfterOthers = before.length > 0 && !namespaces.some((each) => before.includes(each));
    // Nobody is blamed for objects of others that each compilation reads again.
    this.#baseline = isAfterOthers ? took : Math.min(took, this.#baseline * GROWTH);
    const beyond = took - this.#baseline;
    const isExpensive = beyond > TOLERATED * namespaces.length;
    this.#expensive = isExpensive ? namespaces : [];
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
   * A turn ended the compiler: a bug, too little memory, or too little time. Returns whether that can be avoided, because the objects of
   * one namespace, which wait from now on, or of several, which are compiled alone, were changed.
   */
  failed({ namespaces }: NamespaceTurn, now: number): boolean {
    this.#isFresh = true;
    const [only, ...others] = namespaces;
    const failures = only === undefined ? 0 : (this.#failures.get(only) ?? 0);
    const isAlone = only !== undefined && others.length === 0;
    if (isAlone) this.#failures.set(only, failures + 1);
    // Each attempt costs others a compilation without cached results.
    const wait = isAlone ? Math.min(MAX_FAILED_WAIT, MAX_WAIT * 4 ** failures) : 0;
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

import { itemsField, recordOf } from "../kubernetes/json-fields.ts";
import type { CompiledStatus } from "../model/compile-files.ts";

/** Why what is declared for a Gateway is not served. */
export interface Backlog {
  /** When it was noticed, in milliseconds of `performance.now()`. */
  readonly since: number;
  readonly reason: string;
}

/** State of a Gateway (`NAMESPACE/NAME`). */
export interface BacklogSource {
  /** Why its newest code is not what its data planes serve; `undefined` if it is. */
  readonly reasonOf: (gateway: string) => string | undefined;
  /** The generations of objects that its data planes serve, by `KIND NAMESPACE/NAME`. */
  readonly servedGenerations: (gateway: string) => ReadonlyMap<string, number> | undefined;
}

/** Milliseconds in which data planes usually take a change: shorter backlogs are not reported. */
const GRACE = 1_000;

/** Tells which Gateways serve an older state than what is declared, and since when. */
export class UnservedChanges {
  readonly #source: BacklogSource;
  readonly #due: () => void;
  readonly #backlogs: Map<string, Backlog> = new Map();
  #timer: NodeJS.Timeout | undefined;

  /** `due` is called when a backlog has lasted so long that it is to be reported. */
  constructor(source: BacklogSource, due: () => void) {
    this.#source = source;
    this.#due = due;
  }

  /** Looks at these Gateways now, and forgets all others. */
  look(gateways: readonly string[]): void {
    const now = performance.now();
    for (const key of this.#backlogs.keys())
      if (!gateways.includes(key)) this.#backlogs.delete(key);
    for (const key of gateways) {
      const reason = this.#source.reasonOf(key);
      const since = this.#backlogs.get(key)?.since ?? now;
      if (reason === undefined) this.#backlogs.delete(key);
      else this.#backlogs.set(key, { since, reason });
    }
    const young = [...this.#backlogs.values()].some(({ since }) => now - since < GRACE);
    clearTimeout(this.#timer);
    if (young) this.#timer = setTimeout(this.#due, GRACE).unref();
  }

  /** Gateways that have been behind for longer than a delivery takes. */
  get stale(): ReadonlyMap<string, Backlog> {
    const now = performance.now();
    return new Map([...this.#backlogs].filter(([, { since }]) => now - since >= GRACE));
  }

  /** Seconds that the oldest change has waited; 0 if no change waits. */
  get age(): number {
    const oldest = Math.min(...[...this.#backlogs.values()].map(({ since }) => since));
    return Number.isFinite(oldest) ? (performance.now() - oldest) / 1000 : 0;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /**
   * Whether data planes are about to take an object's generation. A status written now would say that the generation is in
   * force before it is.
   */
  isInDelivery(object: Omit<CompiledStatus, "status">, generation: number | undefined): boolean {
    const { stale } = this;
    return this.#behind(object, generation).some((gateway) => !stale.has(gateway));
  }

  /**
   * Returns the status of a route, a policy or a ListenerSet with the changes that are not in force: one of its
   * Gateways serves an older generation of it, or none, for any reason.
   */
  withBacklog(object: CompiledStatus, generation: number | undefined): object {
    const { status } = object;
    const { stale } = this;
    const behind = this.#behind(object, generation).find((gateway) => stale.has(gateway));
    const backlog = behind === undefined ? undefined : stale.get(behind);
    if (backlog === undefined) return status;
    const message = `not in force at Gateway ${behind}: ${backlog.reason}`;
    const { parents, ancestors, conditions } = { ...recordOf(status) };
    if (Array.isArray(parents))
      return { ...status, parents: parents.map((each) => routeEntry(each, message)) };
    if (Array.isArray(ancestors))
      return { ...status, ancestors: ancestors.map((each) => replaced(each, "Attached", message)) };
    return Array.isArray(conditions) ? replaced(status, "Programmed", message) : status;
  }

  /** The Gateways with a backlog that serve another generation of an object, or none. */
  #behind(
    { kind, key, gateways }: Omit<CompiledStatus, "status">,
    generation: number | undefined,
  ): readonly string[] {
    return gateways.filter((gateway) => {
      const served = this.#source.servedGenerations(gateway);
      return this.#backlogs.has(gateway) && served?.get(`${kind} ${key}`) !== generation;
    });
  }
}

/** The entry of a parent: Gateway API names no condition for it, so it gets one that it only has in this case. */
function routeEntry(entry: unknown, message: string): object {
  const conditions = [...itemsField(entry, "conditions"), notProgrammed("Programmed", message)];
  return { ...recordOf(entry), conditions };
}

/** An entry whose condition of a type does not hold. */
function replaced(entry: unknown, type: string, message: string): object {
  const all = itemsField(entry, "conditions");
  const others = all.filter((each) => recordOf(each)?.type !== type);
  const own = all.find((each) => recordOf(each)?.type === type);
  const isFalse = recordOf(own)?.status === "False";
  return {
    ...recordOf(entry),
    conditions: [...others, isFalse ? own : notProgrammed(type, message)],
  };
}

function notProgrammed(type: string, message: string): object {
  return { type, status: "False", reason: "NotProgrammed", message };
}

/** An element of a `SwapSet`. */
export interface Indexed {
  /** Index in the set. Only the set writes it. */
  place: number;
}

/**
 * An unordered set with cheap additions and removals. A `Set` is copied as it grows and shrinks, and V8 links each copy to the
 * next: once the first copy is old, members of any copy are only freed by a full garbage collection.
 */
export class SwapSet<Each extends Indexed> {
  readonly #all: Each[] = [];

  get size(): number {
    return this.#all.length;
  }

  has(member: Each): boolean {
    return this.#all[member.place] === member;
  }

  add(member: Each): void {
    member.place = this.#all.push(member) - 1;
  }

  /** Moves the last member to the place of the deleted one. */
  delete(member: Each): void {
    if (!this.has(member)) return;
    const last = this.#all.pop();
    if (last === undefined || last === member) return;
    this.#all[member.place] = last;
    last.place = member.place;
  }

  /** Calls back with each member. Members may be deleted meanwhile. */
  visit(callback: (member: Each) => void): void {
    for (let i = this.#all.length - 1; i >= 0; i--) {
      const member = this.#all[i];
      if (member !== undefined) callback(member);
    }
  }
}

/** Something that has a deadline. */
export interface Timed extends Indexed {
  /** Tick of the deadline, or `Infinity`. */
  readonly deadline: number;
  /** Called at every tick. */
  expire(tick: number): void;
}

/** Milliseconds between two ticks. */
const TICK_TIME = 250;
/** Milliseconds after which a tick counts as missed. */
const MAX_TICK = 2 * TICK_TIME;

/**
 * Checks the deadlines of many connections with one timer, so a request arms none. Time is counted in ticks: if the process is
 * too busy to tick, all deadlines move back.
 */
export class Deadlines<Each extends Timed = Timed> extends SwapSet<Each> {
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  /** Time of the last tick, in milliseconds of the monotonic clock. */
  #lookedAt = 0;
  #date = "";
  readonly #onBehind: (() => void) | undefined;

  /** `onBehind`: called before the first tick after a missed one. */
  constructor(onBehind?: () => void) {
    super();
    this.#onBehind = onBehind;
  }

  /** Whether a tick was missed: the process was blocked while other clocks advanced. */
  get isBehind(): boolean {
    return performance.now() - this.#lookedAt > MAX_TICK;
  }

  /** Time of the last tick as an HTTP date (RFC 9110 5.6.7). */
  get date(): string {
    return this.#date;
  }

  /** Returns the first tick that is at least so many milliseconds away. */
  after(milliseconds: number): number {
    return this.#tick + Math.ceil(milliseconds / TICK_TIME) + 1;
  }

  override add(member: Each): void {
    super.add(member);
    if (this.#timer !== undefined) return;
    this.#lookedAt = performance.now();
    this.#date = new Date().toUTCString();
    this.#timer = setInterval(() => this.#look(), TICK_TIME).unref();
  }

  #look(): void {
    if (this.isBehind) this.#onBehind?.();
    this.#tick += 1;
    this.#lookedAt = performance.now();
    this.#date = new Date().toUTCString();
    if (this.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.visit((member) => member.expire(this.#tick));
  }
}

/**
 * Calls back once this process has run for so many milliseconds. A pause in which it gets no processor counts as one slice at
 * most, and what arrived meanwhile is read before the callback, so that its own pause is no silence of another process. The
 * returned function cancels it.
 */
export function afterRunning(milliseconds: number, callback: () => void): () => void {
  let left = milliseconds;
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const wait = (): void => {
    const slice = Math.min(left, SLICE);
    left -= slice;
    if (slice > 0) timer = setTimeout(wait, slice);
    else turn = setImmediate(callback);
  };
  wait();
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}

/** Milliseconds that are counted at a time. */
const SLICE = 250;

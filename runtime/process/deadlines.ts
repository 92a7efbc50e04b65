/** What can be one of many. */
export interface Indexed {
  /** Where it stands among the others; theirs to say. */
  place: number;
}

/**
 * Many that come and go, in no order. A set would be copied again and again, and V8 has each copy lead to the next one: once
 * the first is old, who was in any of them is only cleared away with the whole heap.
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

  /** The last one takes its place. */
  delete(member: Each): void {
    if (!this.has(member)) return;
    const last = this.#all.pop();
    if (last === undefined || last === member) return;
    this.#all[member.place] = last;
    last.place = member.place;
  }

  /** Calls back with each of them, which may leave meanwhile. */
  visit(callback: (member: Each) => void): void {
    for (let i = this.#all.length - 1; i >= 0; i--) {
      const member = this.#all[i];
      if (member !== undefined) callback(member);
    }
  }
}

/** What has a deadline. */
export interface Timed extends Indexed {
  /** A tick; Infinity: none. */
  readonly deadline: number;
  /** Called at every tick. */
  expire(tick: number): void;
}

/** Milliseconds between two ticks. */
const TICK_TIME = 250;
/** Milliseconds after which a tick is missing. */
const MAX_TICK = 2 * TICK_TIME;

/**
 * The deadlines of many connections: one timer looks at all, and nothing is armed for a request. Time is counted in ticks;
 * a process that is too busy to count gives everybody more of it.
 */
export class Deadlines<Each extends Timed = Timed> extends SwapSet<Each> {
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  /** The time of the last tick, in milliseconds of the monotonic clock. */
  #lookedAt = 0;
  #date = "";
  readonly #onBehind: (() => void) | undefined;

  /** `onBehind`: called before the first tick after one that is missing. */
  constructor(onBehind?: () => void) {
    super();
    this.#onBehind = onBehind;
  }

  /** Whether a tick is missing: the process stood still, and the clocks of others went on. */
  get isBehind(): boolean {
    return performance.now() - this.#lookedAt > MAX_TICK;
  }

  /** The time of the last tick as fields have it (RFC 9110 5.6.7). */
  get date(): string {
    return this.#date;
  }

  /** The tick that is at least so many milliseconds away. */
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

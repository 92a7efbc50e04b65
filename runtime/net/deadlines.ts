/** What has a deadline. */
export interface Timed {
  /** A tick; Infinity: none. */
  readonly deadline: number;
  /** Where it stands among the others; theirs to say. */
  place: number;
  /** Called at every tick. */
  expire(tick: number): void;
}

/** Milliseconds between two ticks. */
const tickTime = 250;

/**
 * The deadlines of many connections: one timer looks at all, and nothing is armed for a request. Time is counted in ticks;
 * a process that is too busy to count gives everybody more of it.
 */
export class Deadlines<Member extends Timed = Timed> {
  /** No set: many come and go, and a set that does so is copied again and again. */
  readonly #members: Member[] = [];
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #date = "";

  /** The time of the last tick as fields have it (RFC 9110 5.6.7). */
  get date(): string {
    return this.#date;
  }

  /** The tick that is at least so many milliseconds away. */
  after(milliseconds: number): number {
    return this.#tick + Math.ceil(milliseconds / tickTime) + 1;
  }

  add(member: Member): void {
    member.place = this.#members.push(member) - 1;
    if (this.#timer !== undefined) return;
    this.#date = new Date().toUTCString();
    this.#timer = setInterval(() => this.#look(), tickTime).unref();
  }

  /** The last one takes its place. */
  delete(member: Member): void {
    if (this.#members[member.place] !== member) return;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[member.place] = last;
    last.place = member.place;
  }

  /** Calls back with each member, which may leave meanwhile. */
  visit(callback: (member: Member) => void): void {
    for (let i = this.#members.length - 1; i >= 0; i--) {
      const member = this.#members[i];
      if (member !== undefined) callback(member);
    }
  }

  #look(): void {
    this.#tick += 1;
    this.#date = new Date().toUTCString();
    if (this.#members.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.visit((member) => member.expire(this.#tick));
  }
}

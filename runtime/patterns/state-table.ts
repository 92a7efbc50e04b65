/** Maximum number of states; beyond it, all are discarded. */
const MAX_STATES = 1_000;

/** Number of cached transitions over characters beyond ASCII; a power of two. */
const MAX_OTHERS = 4_096;

/** Number of low bits of a state number that hold its flags. */
export const STATE_BITS = 4;

/** States of an automaton, built lazily from the texts that are read, and the transitions between them. */
export class StateTable<State> {
  readonly #numbers = new Map<string, number>();
  readonly #forgotten: () => void;
  #states: State[] = [];
  /** Transitions over characters beyond ASCII and their keys, as a direct-mapped cache. */
  readonly #others = new Int32Array(MAX_OTHERS);
  readonly #otherKeys = new Int32Array(MAX_OTHERS);
  /** By state and ASCII character: `ascii[(state >> STATE_BITS) * 128 + character]`; 0 if unknown. */
  ascii: Int32Array = new Int32Array(16 * 128);
  /** Number of times that all states were discarded. State numbers of earlier generations are invalid. */
  generation = 0;

  /** `forgotten` is called when all state numbers become invalid. */
  constructor(forgotten: () => void) {
    this.#forgotten = forgotten;
  }

  /** Returns the state of a number, which remains valid when the number does not. */
  stateOf(number: number): State {
    const state = this.#states[(number >> STATE_BITS) - 1];
    if (state === undefined) throw new Error("a state of another automaton");
    return state;
  }

  /** Returns the number of a state. `key` identifies the state with its bits. */
  numberOf(key: string, state: State, bits: number): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#states.length >= MAX_STATES) this.#forget();
    const count = this.#states.push(state);
    const number = (count << STATE_BITS) | bits;
    this.#numbers.set(key, number);
    if ((count + 1) * 128 > this.ascii.length) {
      const larger = new Int32Array(this.ascii.length * 2);
      larger.set(this.ascii);
      this.ascii = larger;
    }
    return number;
  }

  /**
   * Returns the state after a code point, or after the end of the text (-1). `step` computes transitions that are not
   * cached.
   */
  next(
    state: number,
    codePoint: number,
    step: (state: number, codePoint: number) => number,
  ): number {
    const isAscii = codePoint >= 0 && codePoint < 128;
    const key = (state >> STATE_BITS) * 0x110001 + codePoint + 1;
    const at = isAscii
      ? (state >> STATE_BITS) * 128 + codePoint
      : (key ^ (key >> 12)) & (MAX_OTHERS - 1);
    const known = isAscii ? this.ascii[at] : this.#otherKeys[at] === key && this.#others[at];
    if (known) return known;
    const { generation } = this;
    const made = step(state, codePoint);
    if (this.generation !== generation) return made;
    if (isAscii) this.ascii[at] = made;
    else {
      this.#otherKeys[at] = key;
      this.#others[at] = made;
    }
    return made;
  }

  #forget(): void {
    this.#numbers.clear();
    this.#states = [];
    this.#otherKeys.fill(0);
    this.ascii.fill(0);
    this.generation += 1;
    this.#forgotten();
  }
}

/** States are kept up to this number; then they are made anew. */
const MAX_STATES = 1_000;

/** Ways out of states by characters beyond ASCII that are kept; a power of two. */
const MAX_OTHERS = 4_096;

/** A state's number begins behind so many bits, which say what it means. */
export const STATE_BITS = 4;

/** The states of an automaton that are made as texts ask for them, and the ways between them. */
export class StateTable<State> {
  readonly #numbers = new Map<string, number>();
  readonly #forgotten: () => void;
  #states: State[] = [];
  /** Ways out by what is no ASCII character, and what they are: each pair has one place. */
  readonly #others = new Int32Array(MAX_OTHERS);
  readonly #otherKeys = new Int32Array(MAX_OTHERS);
  /** By state and ASCII character: `ascii[(state >> stateBits) * 128 + character]`; 0: it was not read there. */
  ascii: Int32Array = new Int32Array(16 * 128);
  /** How often states were made anew: numbers of before mean nothing now. */
  generation = 0;

  /** `forgotten`: numbers of before mean nothing from now on. */
  constructor(forgotten: () => void) {
    this.#forgotten = forgotten;
  }

  /** What a number stands for: it outlives the number. */
  stateOf(number: number): State {
    const state = this.#states[(number >> STATE_BITS) - 1];
    if (state === undefined) throw new Error("a state of another automaton");
    return state;
  }

  /** The number of a state. `key`: the same for the same state and bits. */
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

  /** The state behind a code point, or -1 where the text has none. `step` finds it where nobody has asked before. */
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

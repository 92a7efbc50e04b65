import { isAmbiguous } from "./ambiguous-character.ts";
import { isPlainUnit } from "./character-reading.ts";
import { ALL_IDLE, bitOf, JointAutomaton, MAX_RESTING, UNDECIDED } from "./joint-automaton.ts";
import { beginsBeyondAscii, TEXT_END } from "./pattern-program.ts";
import { characterReader, type Reading } from "./reading.ts";
import type { Search } from "./search.ts";
import { STATE_BITS } from "./state-table.ts";
import { textCodes } from "./text-codes.ts";

/**
 * Finds out which of several searches may have a match in a whole text, in one pass. Most texts have none, and need no
 * further work.
 */
export class JointSearch {
  /** Automaton of all searches. */
  readonly automaton: JointAutomaton;
  readonly #searches: readonly Search[];
  /** Beginnings by bits of the searches that rest. */
  readonly #beginnings = new Map<number, Beginnings>();
  /** Searches that read named characters as they are written: their readings of a text are their own. */
  readonly #named: readonly Search[];
  /** Number of texts that needed too many new transitions. */
  #abandoned = 0;

  private constructor(searches: readonly Search[]) {
    this.#searches = searches;
    this.automaton = new JointAutomaton(searches);
    this.#named = searches.filter(({ reader }) => reader !== characterReader);
  }

  /** Joins searches; `undefined` without searches. */
  static of(searches: readonly Search[]): JointSearch | undefined {
    return searches.length === 0 ? undefined : new JointSearch(searches);
  }

  /**
   * Returns the searches that may match a text, which is read as it is written unless `reading` is given. Returns `undefined`
   * if it is not known: if the text has characters that are not read as they are written, and if too much must be computed.
   */
  matching(text: string, reading: Reading | undefined): ReadonlySet<Search> | undefined {
    if (this.#abandoned > MAX_ABANDONED || this.automaton.isOverflowed) return undefined;
    const read = reading?.text ?? text;
    const resting = this.#withoutRequired(text, reading);
    const range = { codes: textCodes(read), from: 0, to: read.length };
    const found = this.#find(range, resting, reading !== undefined);
    if (found === undefined || reading === undefined || this.#named.length === 0) return found;
    return new Set([...found, ...this.#named]);
  }

  /**
   * Returns a function that tells whether ranges of codes certainly have no match of any search. The codes are characters of
   * strings in this JSON, which has no escapes but those of quotes, backslashes, slashes and white space.
   */
  openJson(json: string): (range: CodeRange) => boolean {
    if (this.#abandoned > MAX_ABANDONED) return () => false;
    let resting = 0;
    for (const [index, { required }] of this.#searches.entries()) {
      const isMissing = required.some((each) => each >= " " && !json.includes(each));
      if (isMissing) resting |= bitOf(index);
    }
    return (range) => !this.automaton.isOverflowed && this.#find(range, resting, false)?.size === 0;
  }

  /** Returns bits of searches that lack a character that each match contains. */
  #withoutRequired(text: string, reading: Reading | undefined): number {
    let bits = 0;
    for (let index = 0; index < this.#searches.length && index < MAX_RESTING; index++) {
      if (this.#searches[index]?.lacksRequired(text, reading) === true) bits |= 1 << index;
    }
    return bits;
  }

  #beginningsWithout(resting: number): Beginnings {
    const known = this.#beginnings.get(resting);
    if (known !== undefined) return known;
    const made = beginningsOf(this.#searches, resting);
    if (this.#beginnings.size < MAX_BEGINNINGS) this.#beginnings.set(resting, made);
    return made;
  }

  /**
   * Reads a text once. `resting`: bits of searches without a match. `isReading`: characters beyond ASCII stand for themselves.
   */
  #find(
    { codes, from, to }: CodeRange,
    resting: number,
    isReading: boolean,
  ): ReadonlySet<Search> | undefined {
    const automaton = this.automaton;
    const { generation, computed } = automaton;
    let found: ReadonlySet<Search> = NONE;
    let bits = resting;
    let beginnings = this.#beginningsWithout(bits);
    let at = from;
    let state: number | undefined;
    do {
      const { begins, beginBeyondAscii } = beginnings;
      // No match has started, and most characters start none.
      for (; at < to; at++) {
        const code = codes[at] ?? 0;
        if (code < 128 ? begins[code] === 1 : beginBeyondAscii || !isReading || isAmbiguous(code))
          break;
      }
      state = this.#initial(at === from ? TEXT_END : (codes[at - 1] ?? TEXT_END), beginnings);
      if (state === undefined) return undefined;
      let { ascii } = automaton;
      while (at < to) {
        const code = codes[at] ?? 0;
        let next: number = code < 128 ? (ascii[(state >> STATE_BITS) * 128 + code] ?? 0) : 0;
        at += 1;
        if (next === 0) {
          if (code > 127 && !isReading) return undefined;
          const codePoint = codePointAt(codes, at - 1, to);
          if (codePoint > 0xffff) at += 1;
          next = automaton.next(state, codePoint);
          if (automaton.generation !== generation || automaton.computed - computed > MAX_COMPUTED)
            return this.#abandon();
          ascii = automaton.ascii;
        }
        state = next;
        if ((state & (UNDECIDED | ALL_IDLE)) === 0) continue;
        if ((state & UNDECIDED) !== 0) {
          if (automaton.isOverflowed || (code < 128 && !isPlainUnit(code))) return undefined;
          found = this.#foundIn(state, bits, found);
          bits |= this.#bitsOf(found);
          beginnings = this.#beginningsWithout(bits);
        }
        if ((state & ALL_IDLE) !== 0) break;
      }
    } while (at < to);
    state = automaton.next(state, TEXT_END);
    if (automaton.generation !== generation) return this.#abandon();
    if ((state & UNDECIDED) !== 0) {
      if (automaton.isOverflowed) return undefined;
      return this.#foundIn(state, bits, found);
    }
    return found;
  }

  /** Returns the state in which no match has started; `undefined` if there are too many states. */
  #initial(before: number, beginnings: Beginnings): number | undefined {
    const { generation } = this.automaton;
    if (beginnings.generation !== generation) {
      beginnings.initials.fill(0);
      beginnings.generation = generation;
    }
    const known = beginnings.initials[before + 1];
    if (known !== undefined && known !== 0) return known;
    const made = this.automaton.initial(before, beginnings.resting);
    if (made !== undefined && this.automaton.generation === generation && before < 128)
      beginnings.initials[before + 1] = made;
    return made;
  }

  /** Returns these searches and those that have found a match in a state. `resting`: bits of searches without a match. */
  #foundIn(state: number, resting: number, found: ReadonlySet<Search>): ReadonlySet<Search> {
    const resters = this.automaton.restingIn(state);
    const asked = resters.filter((index) => (resting & bitOf(index)) === 0);
    return new Set([...found, ...asked.flatMap((index) => this.#searches[index] ?? [])]);
  }

  #bitsOf(found: ReadonlySet<Search>): number {
    return this.#searches.reduce(
      (bits, search, index) => (found.has(search) ? bits | bitOf(index) : bits),
      0,
    );
  }

  #abandon(): undefined {
    this.#abandoned += 1;
    return undefined;
  }
}

/** Part of a text: its UTF-16 units from one place to another. */
export interface CodeRange {
  readonly codes: Uint16Array;
  readonly from: number;
  readonly to: number;
}

function codePointAt(codes: Uint16Array, at: number, to: number): number {
  const unit = codes[at] ?? 0;
  const next = at + 1 < to ? (codes[at + 1] ?? 0) : 0;
  const isPair = (unit & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00;
  return isPair ? ((unit - 0xd800) << 10) + (next - 0xdc00) + 0x10000 : unit;
}

/** Characters and states that start a match, while some searches rest. */
interface Beginnings {
  /** Bits of the searches that rest. */
  readonly resting: number;
  /** By ASCII character: 1 if a match may start with it, or if it is not read as it is written. */
  readonly begins: Uint8Array;
  readonly beginBeyondAscii: boolean;
  /** States in which no match has started: at the start of a text, and by the preceding ASCII character; 0 if not known. */
  readonly initials: Int32Array;
  /** Generation of these states. */
  generation: number;
}

function beginningsOf(all: readonly Search[], resting: number): Beginnings {
  const searches = all.filter((_, index) => (resting & bitOf(index)) === 0);
  const begins = Uint8Array.from({ length: 128 }, (_, unit) =>
    !isPlainUnit(unit) || searches.some(({ leavesIdle }) => leavesIdle[unit] === 1) ? 1 : 0,
  );
  const beginBeyondAscii = searches.some(({ program }) => beginsBeyondAscii(program));
  return { resting, begins, beginBeyondAscii, initials: new Int32Array(129), generation: 0 };
}

const NONE: ReadonlySet<Search> = new Set();

/** Maximum number of transitions that are computed for one text: each takes microseconds. */
const MAX_COMPUTED = 1_000;

/** Number of abandoned texts after which no text is read: the searches need too many states together. */
const MAX_ABANDONED = 100;

/** Maximum number of cached sets of beginnings. */
const MAX_BEGINNINGS = 256;

import { readCharacter } from "../../patterns/character-reading.ts";
import type { JointAutomaton } from "../../patterns/joint-automaton.ts";
import { joinedLists, PartedReplacement } from "../../patterns/parted-replacement.ts";
import { isPlain } from "../../patterns/reading.ts";
import { SparseText } from "../../patterns/sparse-text.ts";
import { UnmatchedText } from "../../patterns/unmatched-text.ts";
import type { PartsGuard } from "../chat/texts.ts";
import type { PatternGuard } from "./pattern-guard.ts";

/** A part of a text: its input, and its output. */
interface Part {
  readonly original: LongText;
  readonly written: LongText;
  /** Whether it could not be decided without a neighboring part. */
  isJoined: boolean;
}

/** Settings of a text in parts. */
export interface TextPartsSettings {
  readonly guards: readonly PatternGuard[];
  /** Joint automaton of all patterns; `undefined` if each reads by itself. */
  readonly automaton: JointAutomaton | undefined;
  /** Counts matches; returns true if the text is rejected. */
  readonly count: (guard: PatternGuard, matches: number) => boolean;
  /** Receives the results of parts. */
  readonly known: Map<string, string>;
}

/** Guards one text in parts with all patterns, one after the other. */
export class TextParts implements PartsGuard {
  readonly #steps: readonly {
    readonly guard: PatternGuard;
    readonly replacement: PartedReplacement;
  }[];
  readonly #count: (guard: PatternGuard, matches: number) => boolean;
  readonly #known: Map<string, string>;
  /** Parts that wait, and the current one. */
  #parts: Part[] = [newPart(false)];
  readonly #sparse = new SparseText();
  #isRejected = false;
  /** Reads for all patterns while they are at rest; `undefined` if they cannot be joined. */
  readonly #unmatched: UnmatchedText | undefined;
  #isUnmatched = false;
  /** Length of the text that it has passed, and the last character of that. */
  #passed = 0;
  #last = "";

  constructor({ guards, automaton, count, known }: TextPartsSettings) {
    this.#count = count;
    this.#known = known;
    this.#steps = guards.flatMap((guard) =>
      guard.patterns.map(({ search, mask }) => ({
        guard,
        replacement: new PartedReplacement(search, mask),
      })),
    );
    this.#unmatched = automaton?.readsPieces === true ? new UnmatchedText(automaton) : undefined;
    this.#rest();
  }

  push(piece: string): readonly string[] {
    const last = this.#parts.at(-1);
    last?.original.add(piece);
    if (this.#isUnmatched) {
      const text = this.#unmatched?.push(piece);
      if (text !== undefined) return [this.#passUnmatched(text)];
    }
    const whole = this.#readOn() + this.#sparse.push(piece);
    const seen = !isPlain(whole) && this.#holdsMuch() ? withoutUnseen(whole) : whole;
    const given = this.#steps.every(isWhole)
      ? [this.#passWhole(seen)]
      : this.#pass([seen], (replacement, pieces) => replacement.push(pieces));
    this.#rest();
    return given;
  }

  #passUnmatched(text: string): string {
    if (text === "") return text;
    this.#passed += text.length;
    this.#last = text.charAt(text.length - 1);
    this.#parts[0]?.written.add(text);
    return text;
  }

  /** Lets each pattern read by itself from here on. Returns the held text, which they must read. */
  #readOn(): string {
    if (!this.#isUnmatched) return "";
    this.#isUnmatched = false;
    if (this.#passed > 0) {
      for (const { replacement } of this.#steps) replacement.passOver(this.#passed, this.#last);
      this.#passed = 0;
    }
    return this.#unmatched?.take() ?? "";
  }

  /** Lets the joint automaton read again if no pattern has anything to decide. */
  #rest(): void {
    if (this.#unmatched === undefined || this.#isRejected || this.#parts.length > 1) return;
    const [first] = this.#steps;
    if (first === undefined || !this.#steps.every(isAtRest)) return;
    const { before } = first.replacement;
    // After a mask, the patterns have read different characters.
    if (this.#steps.some(({ replacement }) => replacement.before !== before)) return;
    this.#isUnmatched = this.#unmatched.begin(before);
  }

  #holdsMuch(): boolean {
    return this.#steps.some(({ replacement }) => replacement.held > MAX_HELD);
  }

  /** Fast path of most pieces: nothing has to be divided. */
  #passWhole(piece: string): string {
    let text = piece;
    for (const { guard, replacement } of this.#steps) {
      if (this.#isRejected) return "";
      const { matches } = replacement;
      text = replacement.pushWhole(text);
      if (replacement.matches !== matches) {
        this.#isRejected = this.#count(guard, replacement.matches - matches);
      }
    }
    if (this.#isRejected) return "";
    this.#parts[0]?.written.add(text);
    return text;
  }

  next(): readonly string[] {
    this.#parts.push(newPart(true));
    const output = this.#pass([this.#readOn(), ""], (replacement, pieces) =>
      replacement.push(pieces),
    );
    // The part waits for the next one.
    const [first] = this.#parts;
    if (first !== undefined && this.#parts.length > 1) first.isJoined = true;
    return output;
  }

  release(): readonly string[] {
    return this.#pass([this.#readOn()], (replacement, pieces) => {
      return joinedLists(replacement.push(pieces), replacement.release());
    });
  }

  end(): readonly string[] {
    return this.#pass([this.#readOn()], (replacement, pieces) => {
      return joinedLists(replacement.push(pieces), replacement.end());
    });
  }

  #pass(
    pieces: readonly string[],
    take: (replacement: PartedReplacement, pieces: readonly string[]) => readonly string[],
  ): readonly string[] {
    let given = pieces;
    for (const { guard, replacement } of this.#steps) {
      if (this.#isRejected) return [""];
      const { matches } = replacement;
      given = take(replacement, given);
      this.#isRejected = this.#count(guard, replacement.matches - matches);
    }
    if (this.#isRejected) return [""];
    this.#note(given);
    return given;
  }

  #note(given: readonly string[]): void {
    given.forEach((text, index) => {
      const [part] = this.#parts;
      if (part === undefined) return;
      part.written.add(text);
      if (index === given.length - 1) return;
      this.#parts.shift();
      if (part.isJoined) this.#known.set(part.original.text, part.written.text);
    });
  }
}

function isWhole({ replacement }: { readonly replacement: PartedReplacement }): boolean {
  return replacement.isWhole;
}

function isAtRest({ replacement }: { readonly replacement: PartedReplacement }): boolean {
  return replacement.isAtRest;
}

function newPart(isJoined: boolean): Part {
  return { original: new LongText(), written: new LongText(), isJoined };
}

function withoutUnseen(text: string): string {
  return [...text].filter((character) => readCharacter(character) !== "").join("");
}

/**
 * Length of waiting text, in UTF-16 units, from which invisible characters are removed: they could delay a match forever.
 */
const MAX_HELD = 1_024;

/** Number of pieces that are joined. */
const MAX_PIECES = 64;

/**
 * A text that arrives in many small pieces and is held for long. Concatenation alone would keep each piece as an object in
 * memory.
 */
class LongText {
  #text = "";
  /** Last pieces, concatenated. */
  #sum = "";
  #pieces = 0;

  /** Appends a piece. */
  add(piece: string): void {
    this.#sum += piece;
    this.#pieces += 1;
    if (this.#pieces === MAX_PIECES) this.#join();
  }

  /** The whole text. */
  get text(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    // `Array.join` creates a flat string.
    this.#text = [this.#text, this.#sum].join("");
    this.#sum = "";
    this.#pieces = 0;
  }
}

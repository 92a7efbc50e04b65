import { readCharacter } from "../../patterns/character-reading.ts";
import type { JointAutomaton } from "../../patterns/joint-automaton.ts";
import { joinedLists, PartedReplacement } from "../../patterns/parted-replacement.ts";
import { isPlain } from "../../patterns/reading.ts";
import { SparseText } from "../../patterns/sparse-text.ts";
import { UnmatchedText } from "../../patterns/unmatched-text.ts";
import type { PartsGuard } from "../chat/texts.ts";
import { LongText } from "./long-text.ts";
import type { PatternGuard } from "./pattern-guard.ts";

/** A part of a text: what came of it, and what went out. */
interface Part {
  readonly original: LongText;
  readonly written: LongText;
  /** It could not be decided without the part before it or behind it. */
  isJoined: boolean;
}

/** What a text in parts passes. */
export interface TextPartsSettings {
  readonly guards: readonly PatternGuard[];
  /** Of all their patterns; undefined: each of them reads by itself. */
  readonly automaton: JointAutomaton | undefined;
  /** Hears of matches; true: the text is rejected. */
  readonly count: (guard: PatternGuard, matches: number) => boolean;
  /** Gets what parts have become. */
  readonly known: Map<string, string>;
}

/** One text in parts that passes all patterns, one after the other. */
export class TextParts implements PartsGuard {
  readonly #steps: readonly {
    readonly guard: PatternGuard;
    readonly replacement: PartedReplacement;
  }[];
  readonly #count: (guard: PatternGuard, matches: number) => boolean;
  readonly #known: Map<string, string>;
  /** Those of which something waits, and the one that goes on. */
  #parts: Part[] = [newPart(false)];
  readonly #sparse = new SparseText();
  #isRejected = false;
  /** Reads for all patterns while they are at rest; undefined: it can't. */
  readonly #unmatched: UnmatchedText | undefined;
  #isUnmatched = false;
  /** How much of the text it gave, and the last character of that. */
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
    this.#unmatched = automaton && new UnmatchedText(automaton);
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

  /** Each pattern reads for itself from here on. What was held, and is to be read by them. */
  #readOn(): string {
    if (!this.#isUnmatched) return "";
    this.#isUnmatched = false;
    if (this.#passed > 0) {
      for (const { replacement } of this.#steps) replacement.passOver(this.#passed, this.#last);
      this.#passed = 0;
    }
    return this.#unmatched?.take() ?? "";
  }

  /** They need not read for themselves while none of them has anything to decide. */
  #rest(): void {
    if (this.#unmatched === undefined || this.#isRejected || this.#parts.length > 1) return;
    const [first] = this.#steps;
    if (first === undefined || !this.#steps.every(isAtRest)) return;
    this.#isUnmatched = this.#unmatched.begin(first.replacement.before);
  }

  #holdsMuch(): boolean {
    return this.#steps.some(({ replacement }) => replacement.held > MAX_HELD);
  }

  /** What most pieces are: nothing in them has to be divided. */
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
    // It waits for the next one.
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

/** From so much that waits on, in UTF-16 units, what nobody sees is left out: it could hold up a match for ever. */
const MAX_HELD = 1_024;

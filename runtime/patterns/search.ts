import type { Pattern } from "../cel/functions/pattern.ts";
import { asksForWriting } from "./asks-for-writing.ts";
import { Automaton, isIdle } from "./automaton.ts";
import { MatchBeginnings } from "./match-beginnings.ts";
import {
  beginsBeyondAscii,
  hasLoop,
  noText,
  type PatternProgram,
  programOf,
  requiredCharacters,
} from "./pattern-program.ts";
import { Walk } from "./walk.ts";

/** What is looked for in texts. */
export interface SearchSettings {
  readonly pattern: Pattern;
  /** UTF-16 units of the longest match; of a pattern without a bound, the most that wait for the rest of a match. */
  readonly longest: number;
  /** Whether a match counts; `before` and `after`: the characters beside it, if any. Absent: every one does. */
  readonly isValid?: (match: string, before: string, after: string) => boolean;
}

/** A pattern that is looked for, in any number of texts. */
export class Search {
  readonly settings: SearchSettings;
  readonly program: PatternProgram;
  readonly automaton: Automaton;
  readonly matchBeginnings: MatchBeginnings;
  /** Of whoever reads: it is used by one text at a time. */
  readonly walk = new Walk();
  /** It looks at texts as they read; else as they are written, as its pattern asks for. */
  readonly readsText: boolean;
  /** By ASCII character: 1 where a match may begin with it, whatever stands before it. */
  readonly leavesIdle: Uint8Array;
  /** Finds what a match may begin with, by the engine's own search: what lies before it is passed over. */
  readonly beginnings: RegExp;
  /** Finds what a match may begin with in a piece of a text of which nobody knows yet how it reads. */
  readonly unreadBeginnings: RegExp;
  /** Its matches may have any length. */
  readonly isOpen: boolean;
  /** Without each of them there is no match. */
  readonly required: readonly string[];

  constructor(settings: SearchSettings) {
    this.settings = settings;
    this.program = programOf(settings.pattern);
    this.automaton = new Automaton(this.program);
    this.readsText = !asksForWriting(this.program);
    this.isOpen = hasLoop(this.program);
    this.required = requiredCharacters(this.program.instructions, [this.program.start]);
    const { automaton } = this;
    this.leavesIdle = automaton.leavesIdle;
    this.beginnings = automaton.beginnings(beginsBeyondAscii(this.program));
    this.unreadBeginnings = this.readsText ? automaton.beginnings(true) : this.beginnings;
    this.matchBeginnings = new MatchBeginnings(this.program);
  }

  /** No match begins but with a character that leaves the automaton's first state. */
  get needsBeginning(): boolean {
    return isIdle(this.automaton.initial(noText));
  }

  /** Whether a whole text has no character that a match may begin with: there is none in it. */
  hasNoBeginning(text: string): boolean {
    if (!this.needsBeginning) return false;
    this.beginnings.lastIndex = 0;
    return !this.beginnings.test(text);
  }
}

import type { Pattern } from "../cel/functions/pattern.ts";
import { AskedCharacters } from "./asked-characters.ts";
import { AskedReader } from "./asked-reader.ts";
import { Automaton, isIdle } from "./automaton.ts";
import { MatchBeginnings } from "./match-beginnings.ts";
import {
  beginsBeyondAscii,
  hasLoop,
  NO_TEXT,
  type PatternProgram,
  programOf,
  requiredCharacters,
} from "./pattern-program.ts";
import { characterReader, type Reading, type TextReader } from "./reading.ts";
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
  /** Reads texts as its pattern is to see them: what it asks for by itself is seen as it is written. */
  readonly reader: TextReader;
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
    const asked = AskedCharacters.of(this.program.instructions);
    this.reader = asked === undefined ? characterReader : new AskedReader(asked);
    this.isOpen = hasLoop(this.program);
    this.required = requiredCharacters(this.program.instructions, [this.program.start]);
    const { automaton } = this;
    this.leavesIdle = automaton.leavesIdle;
    this.beginnings = automaton.beginnings(beginsBeyondAscii(this.program));
    this.unreadBeginnings = automaton.unreadBeginnings;
    this.matchBeginnings = new MatchBeginnings(this.program);
  }

  /** No match begins but with a character that leaves the automaton's first state. */
  get needsBeginning(): boolean {
    return isIdle(this.automaton.initial(NO_TEXT));
  }

  /** How a text reads; undefined: as it is written. `reading`: how others read it. */
  readingOf(text: string, reading: Reading | undefined): Reading | undefined {
    return this.reader === characterReader ? reading : this.reader.readingOf(text);
  }

  /** Whether a text has not all that a match needs. `reading`: how it reads, where that is another text. */
  lacksRequired(text: string, reading: Reading | undefined): boolean {
    if (reading?.isAmbiguous === true) return false;
    const read = reading?.text ?? text;
    return this.required.some((character) => !read.includes(character));
  }

  /** Whether a whole text has no character that a match may begin with: there is none in it. */
  hasNoBeginning(text: string): boolean {
    if (!this.needsBeginning) return false;
    this.beginnings.lastIndex = 0;
    return !this.beginnings.test(text);
  }
}

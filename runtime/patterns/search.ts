import type { Pattern } from "../cel/functions/pattern.ts";
import { Automaton, ENDING_BITS, isIdle, MATCHED_BIT } from "./automaton.ts";
import { MatchBeginnings } from "./match-beginnings.ts";
import { NamedCharacterReader } from "./named-character-reader.ts";
import { NamedCharacters } from "./named-characters.ts";
import {
  beginsBeyondAscii,
  hasLoop,
  NO_TEXT,
  type PatternProgram,
  programOf,
  requiredCharacters,
} from "./pattern-program.ts";
import { characterReader, type Reading, type TextReader } from "./reading.ts";
import { STATE_BITS } from "./state-table.ts";

/** A pattern to search for, and how. */
export interface SearchSettings {
  readonly pattern: Pattern;
  /**
   * Maximum length of a match, in UTF-16 units; for unbounded patterns, the maximum length that waits for the rest of a
   * match.
   */
  readonly longest: number;
  /** Whether a match counts. `before` and `after` are the characters next to it, or empty. If absent, every match counts. */
  readonly isValid?: (match: string, before: string, after: string) => boolean;
}

/** A pattern that is searched for in any number of texts. */
export class Search {
  readonly settings: SearchSettings;
  readonly program: PatternProgram;
  readonly automaton: Automaton;
  readonly matchBeginnings: MatchBeginnings;
  /** Loop of the current reader; used by one text at a time. */
  readonly walk = new Walk();
  /** Reads texts for its pattern: characters that the pattern names are read as they are written. */
  readonly reader: TextReader;
  /** By ASCII character: 1 if a match may start with it, whatever precedes it. */
  readonly leavesIdle: Uint8Array;
  /** Matches characters that a match may start with, to skip the text before them with the engine's own search. */
  readonly beginnings: RegExp;
  /** Matches characters that a match may start with in a piece whose reading is not known yet. */
  readonly unreadBeginnings: RegExp;
  /** Whether its matches may have any length. */
  readonly isOpen: boolean;
  /** Characters that every match contains. */
  readonly required: readonly string[];

  constructor(settings: SearchSettings) {
    this.settings = settings;
    this.program = programOf(settings.pattern);
    this.automaton = new Automaton(this.program);
    const named = NamedCharacters.of(this.program.instructions);
    this.reader = named === undefined ? characterReader : new NamedCharacterReader(named);
    this.isOpen = hasLoop(this.program);
    this.required = requiredCharacters(this.program.instructions, [this.program.start]);
    const { automaton } = this;
    this.leavesIdle = automaton.leavesIdle;
    this.beginnings = automaton.beginnings(beginsBeyondAscii(this.program));
    this.unreadBeginnings = automaton.unreadBeginnings;
    this.matchBeginnings = new MatchBeginnings(this.program);
  }

  /** Whether every match starts with a character that leaves the automaton's first state. */
  get needsBeginning(): boolean {
    return isIdle(this.automaton.initial(NO_TEXT));
  }

  /** Returns the reading of a text; `undefined` if it is read as it is written. `reading` is the one of other searches. */
  readingOf(text: string, reading: Reading | undefined): Reading | undefined {
    return this.reader === characterReader ? reading : this.reader.readingOf(text);
  }

  /** Whether a text lacks a character that every match contains. `reading` is its reading, where that differs. */
  lacksRequired(text: string, reading: Reading | undefined): boolean {
    if (reading?.isAmbiguous === true) return false;
    const read = reading?.text ?? text;
    return this.required.some((character) => !read.includes(character));
  }

  /** Whether a whole text has no character that a match may start with, and so has no match. */
  hasNoBeginning(text: string): boolean {
    if (!this.needsBeginning) return false;
    this.beginnings.lastIndex = 0;
    return !this.beginnings.test(text);
  }
}

/** Loop over characters that decide nothing. It is short, so that engines compile it early. */
class Walk {
  /** Place that is read next. */
  at = 0;
  state = 0;
  /** Place where the state was entered. */
  since = 0;
  /** Place where a match ended last; -1 if none did. */
  end = -1;

  /**
   * Reads ASCII characters while the next state is known and threads continue; at most as far as a match may wait, and not
   * where reading was found to be futile.
   */
  read(text: string, ascii: Int32Array, longest: number, futileTo: number): void {
    const { length } = text;
    let { at, state, since, end } = this;
    let limit = end < 0 ? length : Math.min(length, end + longest + 1);
    if (at < futileTo) return;
    while (at < limit) {
      const unit = text.charCodeAt(at);
      if (unit > 127) break;
      const next = ascii[((state >> STATE_BITS) << 7) + unit] ?? 0;
      if (next !== state) {
        if (next === 0 || (next & ENDING_BITS) !== 0) break;
        // The caller decides what happens after a match.
        if ((state & MATCHED_BIT) !== 0 && (next & MATCHED_BIT) === 0) break;
        since = at + 1;
        state = next;
      }
      if ((next & MATCHED_BIT) !== 0) {
        end = at;
        limit = Math.min(length, at + longest + 1);
      }
      at += 1;
    }
    this.at = at;
    this.state = state;
    this.since = since;
    this.end = end;
  }
}

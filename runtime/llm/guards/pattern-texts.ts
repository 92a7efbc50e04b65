import { JointAutomaton } from "../../patterns/joint-automaton.ts";
import { characterReader, type Reading } from "../../patterns/reading.ts";
import { Replacement } from "../../patterns/replacement.ts";
import { SparseText } from "../../patterns/sparse-text.ts";
import type { PartsGuard, PieceGuard, TextGuards } from "../chat/texts.ts";
import type { TextPart, TextPlace } from "../chat/whole-texts.ts";
import type { GuardRun } from "./guard-run.ts";
import { JsonPieces } from "./json-pieces.ts";
import type { PatternGuard } from "./pattern-guard.ts";
import { TextParts } from "./text-parts.ts";

/** Guards texts with patterns, one guard after the other. */
export class PatternTexts implements TextGuards {
  readonly #guards: readonly PatternGuard[];
  readonly #run: GuardRun;
  readonly #scope: readonly TextPart[] | undefined;
  readonly #automaton: JointAutomaton | undefined;
  /** Results of streamed parts that could not be decided alone. Formats repeat these parts as whole texts. */
  readonly #parts = new Map<string, string>();

  /** Texts of events that later events may continue, by their marks. */
  readonly #carried = new Map<string, PartsGuard>();

  /** `scope`: guarded parts of whole texts; absent: all. `automaton`: shared one for all patterns. */
  constructor(
    guards: readonly PatternGuard[],
    run: GuardRun,
    scope?: readonly TextPart[],
    automaton: JointAutomaton | undefined = jointAutomaton(guards),
  ) {
    this.#guards = guards;
    this.#run = run;
    this.#scope = scope;
    this.#automaton = automaton;
  }

  replace(text: string, { part, isName }: TextPlace): string {
    if (this.#scope?.includes(part) === false) return text;
    // A lookup hashes the whole text, so it is skipped if it cannot succeed.
    const mayBeKnown = isName !== true && this.#parts.size > 0;
    const known = mayBeKnown ? this.#parts.get(text) : undefined;
    if (known !== undefined) return known;
    const written = isName === true ? nameOf : asItIs;
    const sparse = new SparseText().push(text);
    const [first] = this.#guards;
    // Counts as a match, so that the original text is not restored.
    if (sparse !== text && first !== undefined) this.#run.match(first, 1);
    let searched: SearchedText = { text: sparse, reading: characterReader.readingOf(sparse) };
    let start = performance.now();
    for (const guard of this.#guards) {
      searched = this.#replacedBy(guard, searched, written);
      const end = performance.now();
      this.#run.spend(guard, end - start);
      start = end;
      if (this.#run.error !== undefined) return "";
    }
    return searched.text;
  }

  #replacedBy(
    guard: PatternGuard,
    given: SearchedText,
    written: (mask: string) => string,
  ): SearchedText {
    let searched = given;
    const { patterns, beginnings } = guard;
    let hasNone = beginnings.areMissingIn(given.reading?.text ?? given.text);
    for (const { search, mask } of patterns) {
      if (hasNone && beginnings.has(search)) continue;
      const { text } = searched;
      const reading = search.readingOf(text, searched.reading);
      if (search.lacksRequired(text, reading)) continue;
      if (search.hasNoBeginning(reading?.text ?? text)) continue;
      const replacement = new Replacement(search, written(mask));
      const replaced = replacement.replace(text, reading);
      if (this.#count(guard, replacement.matches)) return { text: "", reading: undefined };
      if (replaced === text) continue;
      searched = { text: replaced, reading: characterReader.readingOf(replaced) };
      // A mask may contain characters that other matches start with.
      hasNone = false;
    }
    return searched;
  }

  replaceJson(text: string, { part }: TextPlace): string {
    if (this.#scope?.includes(part) === false) return text;
    const guard = this.openJson();
    return guard.push(text) + guard.end();
  }

  open(): PieceGuard {
    return new TextPieces(this.#guards, asItIs, this.#count);
  }

  openJson(): PieceGuard {
    const bare = (mask: string) => JSON.stringify(mask);
    return new JsonPieces((isText) =>
      isText ? this.open() : new TextPieces(this.#guards, bare, this.#count),
    );
  }

  openParts(): PartsGuard {
    return this.#openParts(this.#parts);
  }

  #openParts(known: Map<string, string>): PartsGuard {
    return new TextParts({
      guards: this.#guards,
      automaton: this.#automaton,
      count: this.#count,
      known,
    });
  }

  carry(text: string, place: TextPlace, mark: string): string {
    const replaced = this.replace(text, place);
    if (replaced !== text || text === "") return replaced;
    let parts = this.#carried.get(mark);
    if (parts === undefined) {
      parts = this.#openParts(new Map());
      if (this.#carried.size < MAX_CARRIED) this.#carried.set(mark, parts);
    }
    const given = [...parts.push(text), ...parts.release()].join("");
    return given !== text && place.isName === true ? nameOf(given) : given;
  }

  /** Returns true if the text is rejected. */
  readonly #count = (guard: PatternGuard, matches: number): boolean => {
    if (matches === 0) return false;
    const { rejection } = guard;
    this.#run.match(guard, matches);
    if (rejection !== undefined) this.#run.reject(guard, rejection);
    return rejection !== undefined;
  };
}

/** Maximum number of texts per stream that later events may continue. */
const MAX_CARRIED = 1_000;

/** Joins the automata of guards, for texts without matches; `undefined` if they cannot be joined. */
export function jointAutomaton(guards: readonly PatternGuard[]): JointAutomaton | undefined {
  return JointAutomaton.of(guards.flatMap(({ patterns }) => patterns.map(({ search }) => search)));
}

/** A text, and its reading if that differs. */
interface SearchedText {
  readonly text: string;
  readonly reading: Reading | undefined;
}

function asItIs(mask: string): string {
  return mask;
}

/** Removes characters from a mask that providers do not accept in names. */
function nameOf(mask: string): string {
  return mask.replaceAll(/[^A-Za-z0-9_-]/g, "");
}

/** Guards one text with all patterns, one after the other. */
class TextPieces implements PieceGuard {
  readonly #steps: readonly { readonly guard: PatternGuard; readonly replacement: Replacement }[];
  readonly #count: (guard: PatternGuard, matches: number) => boolean;
  readonly #sparse = new SparseText();
  #isRejected = false;

  constructor(
    guards: readonly PatternGuard[],
    written: (mask: string) => string,
    count: (guard: PatternGuard, matches: number) => boolean,
  ) {
    this.#count = count;
    this.#steps = guards.flatMap((guard) =>
      guard.patterns.map(({ search, mask }) => ({
        guard,
        replacement: new Replacement(search, written(mask)),
      })),
    );
  }

  push(piece: string): string {
    return this.#pass(this.#sparse.push(piece), (replacement, text) => replacement.push(text));
  }

  end(): string {
    return this.#pass("", (replacement, text) => replacement.push(text) + replacement.end());
  }

  #pass(piece: string, take: (replacement: Replacement, text: string) => string): string {
    let text = piece;
    for (const { guard, replacement } of this.#steps) {
      if (this.#isRejected) return "";
      const { matches } = replacement;
      text = take(replacement, text);
      this.#isRejected = this.#count(guard, replacement.matches - matches);
    }
    return this.#isRejected ? "" : text;
  }
}

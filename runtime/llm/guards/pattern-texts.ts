import { JointSearch } from "../../patterns/joint-search.ts";
import { characterReader, type Reading } from "../../patterns/reading.ts";
import { Replacement } from "../../patterns/replacement.ts";
import type { Search } from "../../patterns/search.ts";
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
  readonly #joint: JointSearch | undefined;
  /** Results of streamed parts that could not be decided alone. Formats repeat these parts as whole texts. */
  readonly #parts = new Map<string, string>();

  /** Texts of events that later events may continue, by their marks. */
  readonly #carried = new Map<string, PartsGuard>();

  /** `scope`: guarded parts of whole texts; absent: all. `joint`: shared search of all patterns. */
  constructor(
    guards: readonly PatternGuard[],
    run: GuardRun,
    scope?: readonly TextPart[],
    joint: JointSearch | undefined | null = jointSearch(guards),
  ) {
    this.#guards = guards;
    this.#run = run;
    this.#scope = scope;
    this.#joint = joint ?? undefined;
  }

  replace(text: string, { part, isName }: TextPlace): string {
    if (this.#scope?.includes(part) === false) return text;
    // A lookup hashes the whole text, so it is skipped if it cannot succeed.
    const mayBeKnown = isName !== true && this.#parts.size > 0;
    const known = mayBeKnown ? this.#parts.get(text) : undefined;
    if (known !== undefined) return known;
    const start = performance.now();
    const matching = this.#joint?.matching(text, undefined);
    if (matching?.size === 0) {
      this.#spend(performance.now() - start);
      return text;
    }
    return this.#replace(text, matching, isName === true ? nameOf : asItIs);
  }

  /** `matching`: patterns that may match the text; `undefined` if it is not known. */
  #replace(
    text: string,
    matching: ReadonlySet<Search> | undefined,
    written: (mask: string) => string,
  ): string {
    let start = performance.now();
    const sparse = new SparseText().push(text);
    const [first] = this.#guards;
    // Counts as a match, so that the original text is not restored.
    if (sparse !== text && first !== undefined) this.#run.match(first, 1);
    const reading = characterReader.readingOf(sparse);
    let searched: SearchedText = {
      text: sparse,
      reading,
      matching: matching ?? this.#joint?.matching(sparse, reading),
    };
    if (searched.matching?.size === 0) {
      this.#spend(performance.now() - start);
      return sparse;
    }
    for (const guard of this.#guards) {
      searched = this.#replacedBy(guard, searched, written);
      const end = performance.now();
      this.#run.spend(guard, end - start);
      start = end;
      if (this.#run.error !== undefined) return "";
    }
    return searched.text;
  }

  /** Adds the duration of one pass for all guards. */
  #spend(milliseconds: number): void {
    for (const guard of this.#guards) this.#run.spend(guard, milliseconds / this.#guards.length);
  }

  #replacedBy(
    guard: PatternGuard,
    given: SearchedText,
    written: (mask: string) => string,
  ): SearchedText {
    let searched = given;
    for (const { search, mask } of guard.patterns) {
      const { text, matching } = searched;
      if (matching?.has(search) === false) continue;
      const reading = search.readingOf(text, searched.reading);
      if (search.lacksRequired(text, reading)) continue;
      if (search.hasNoBeginning(reading?.text ?? text)) continue;
      const replacement = new Replacement(search, written(mask));
      const replaced = replacement.replace(text, reading);
      if (this.#count(guard, replacement.matches)) return NO_TEXT;
      if (replaced === text) continue;
      // A mask may contain characters that other matches start with.
      searched = {
        text: replaced,
        reading: characterReader.readingOf(replaced),
        matching: undefined,
      };
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
      automaton: this.#joint?.automaton,
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

/** Joins the searches of guards, for texts without matches; `undefined` without patterns. */
export function jointSearch(guards: readonly PatternGuard[]): JointSearch | undefined {
  return JointSearch.of(guards.flatMap(({ patterns }) => patterns.map(({ search }) => search)));
}

/** A text, and its reading if that differs. */
interface SearchedText {
  readonly text: string;
  readonly reading: Reading | undefined;
  /** Patterns that may match; `undefined` if it is not known. */
  readonly matching: ReadonlySet<Search> | undefined;
}

const NO_TEXT: SearchedText = { text: "", reading: undefined, matching: undefined };

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

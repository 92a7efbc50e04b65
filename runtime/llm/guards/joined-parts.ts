import { characterReader, type Reading } from "../../patterns/reading.ts";
import { type MatchRange, type OnMatch, Replacement } from "../../patterns/replacement.ts";
import type { Search } from "../../patterns/search.ts";
import type { TextPart, TextPlace, WholeTexts } from "../chat/whole-texts.ts";
import { isInScope } from "./gathered-texts.ts";
import type { GuardRun } from "./guard-run.ts";
import type { PatternGuard } from "./pattern-guard.ts";

/** Consecutive texts of one role, which a model reads as one. */
interface Turn {
  readonly role: string;
  readonly part: TextPart;
  readonly texts: string[];
}

/** Records which texts are parts of one role's text, while others replace them. */
export class NotedParts implements WholeTexts {
  readonly #turns: Turn[] = [];
  readonly #texts: WholeTexts;
  readonly #scope: readonly TextPart[] | undefined;

  /** `scope`: guarded parts; `undefined` for all. */
  constructor(texts: WholeTexts, scope: readonly TextPart[] | undefined) {
    this.#texts = texts;
    this.#scope = scope;
  }

  replace(text: string, place: TextPlace): string {
    if (isPart(text, place, this.#scope)) {
      const { role, part } = place;
      const last = this.#turns.at(-1);
      if (last?.role === role && last.part === part) last.texts.push(text);
      else this.#turns.push({ role, part, texts: [text] });
    }
    return this.#texts.replace(text, place);
  }

  replaceJson(text: string, place: TextPlace): string {
    return this.#texts.replaceJson(text, place);
  }

  /** Finds matches that span several parts; `undefined` if no match does. */
  findAcross(guards: readonly PatternGuard[], run: GuardRun): MatchesAcross | undefined {
    if (this.#turns.every(({ texts }) => texts.length === 1)) return undefined;
    const counts = new Map<PatternGuard, number>();
    const ranges = this.#turns.flatMap(({ texts }) => {
      if (texts.length === 1) return [[]];
      return rangesOfEach(texts, foundAcross(texts, guards, { run, counts }));
    });
    return counts.size === 0 ? undefined : { ranges, counts };
  }
}

/** Matches that span several parts of texts. */
export interface MatchesAcross {
  /** Their ranges within each part, by the number of the part. */
  readonly ranges: readonly (readonly MaskedRange[])[];
  readonly counts: ReadonlyMap<PatternGuard, number>;
}

/** Masks ranges that span several parts. The remaining text of each part is replaced by `texts`. */
export class MaskedParts implements WholeTexts {
  readonly #texts: WholeTexts;
  readonly #scope: readonly TextPart[] | undefined;
  readonly #ranges: readonly (readonly MaskedRange[])[];
  #at = 0;

  /** `ranges`: by the number of the part, as recorded. */
  constructor(
    texts: WholeTexts,
    scope: readonly TextPart[] | undefined,
    ranges: readonly (readonly MaskedRange[])[],
  ) {
    this.#texts = texts;
    this.#scope = scope;
    this.#ranges = ranges;
  }

  replace(text: string, place: TextPlace): string {
    if (!isPart(text, place, this.#scope)) return this.#texts.replace(text, place);
    const ranges = this.#ranges[this.#at] ?? [];
    this.#at += 1;
    let masked = "";
    let at = 0;
    for (const { from, to, mask } of ranges) {
      masked += this.#texts.replace(text.slice(at, from), place) + mask;
      at = to;
    }
    return masked + this.#texts.replace(text.slice(at), place);
  }

  replaceJson(text: string, place: TextPlace): string {
    return this.#texts.replaceJson(text, place);
  }
}

/** A range of a text, and its replacement. */
interface MaskedRange extends MatchRange {
  readonly mask: string;
}

function isPart(text: string, place: TextPlace, scope: readonly TextPart[] | undefined): boolean {
  return place.isPart === true && isInScope(text, place, scope);
}

/** Returns the matches of guards in joined parts that span more than one of them, in order. */
function foundAcross(
  parts: readonly string[],
  guards: readonly PatternGuard[],
  { run, counts }: { readonly run: GuardRun; readonly counts: Map<PatternGuard, number> },
): readonly MaskedRange[] {
  const found: MaskedRange[] = [];
  const text = parts.join("");
  const joined: JoinedText = {
    text,
    reading: characterReader.readingOf(text),
    bounds: boundsOf(parts),
  };
  for (const guard of guards) {
    const start = performance.now();
    for (const { search, mask } of guard.patterns) {
      const matches = matchesAcross(joined, search);
      if (matches.length === 0) continue;
      counts.set(guard, (counts.get(guard) ?? 0) + matches.length);
      found.push(...matches.map((range) => ({ ...range, mask })));
    }
    run.spend(guard, performance.now() - start);
  }
  return united(found.sort((a, b) => a.from - b.from));
}

/** Joins overlapping ranges, with the mask of the first. */
function united(ranges: readonly MaskedRange[]): readonly MaskedRange[] {
  const all: MaskedRange[] = [];
  for (const range of ranges) {
    const last = all.at(-1);
    if (last === undefined || last.to <= range.from) all.push(range);
    else all[all.length - 1] = { ...last, to: Math.max(last.to, range.to) };
  }
  return all;
}

/** Splits ranges of joined parts into ranges of each part. */
function rangesOfEach(
  parts: readonly string[],
  ranges: readonly MaskedRange[],
): readonly (readonly MaskedRange[])[] {
  let begin = 0;
  let next = 0;
  return parts.map(({ length }) => {
    const end = begin + length;
    const own: MaskedRange[] = [];
    for (let range = ranges[next]; range !== undefined && range.from < end; ) {
      const from = Math.max(range.from, begin) - begin;
      own.push({ from, to: Math.min(range.to, end) - begin, mask: range.mask });
      if (range.to > end) break;
      next += 1;
      range = ranges[next];
    }
    begin = end;
    return own;
  });
}

/** Joined parts. */
interface JoinedText {
  readonly text: string;
  /** Reading of the text; `undefined` if it is read as it is written. */
  readonly reading: Reading | undefined;
  /** Boundaries of parts. */
  readonly bounds: readonly number[];
}

/** Returns the matches in joined parts that span more than one of them. */
function matchesAcross(
  { text, reading: ownReading, bounds }: JoinedText,
  search: Search,
): readonly MatchRange[] {
  const reading = search.readingOf(text, ownReading);
  if (search.lacksRequired(text, reading)) return [];
  // Windows are not possible: invisible characters lengthen matches, and some patterns have matches of any length.
  if (reading !== undefined || search.isOpen) {
    return across(matchesIn(text, { from: 0, to: text.length }, search, reading), bounds);
  }
  const windows = windowsAt(bounds, text.length, 2 * search.settings.longest + 2);
  // Text that is read as it is written is so in each window.
  return windows.flatMap((window) => across(matchesIn(text, window, search, undefined), bounds));
}

/** Returns the boundaries of parts. */
function boundsOf(parts: readonly string[]): readonly number[] {
  let at = 0;
  return parts.slice(0, -1).map(({ length }) => {
    at += length;
    return at;
  });
}

/** Returns windows around boundaries of parts. */
function windowsAt(
  bounds: readonly number[],
  length: number,
  width: number,
): readonly MatchRange[] {
  const windows: MatchRange[] = [];
  for (const bound of bounds) {
    const [from, to] = [Math.max(0, bound - width), Math.min(length, bound + width)];
    const last = windows.at(-1);
    if (last === undefined || from > last.to) windows.push({ from, to });
    else windows[windows.length - 1] = { from: last.from, to };
  }
  return windows;
}

/** `reading`: reading of the window, if it differs. */
function matchesIn(
  text: string,
  { from: start, to: end }: MatchRange,
  search: Search,
  reading: Reading | undefined,
): readonly MatchRange[] {
  const matches: MatchRange[] = [];
  const note: OnMatch = ({ from, to }, isRest) => {
    const last = isRest ? matches.pop() : undefined;
    matches.push({ from: last?.from ?? start + from, to: start + to });
  };
  const window = text.slice(start, end);
  new Replacement(search, "", note, text.charAt(start - 1)).replace(window, reading);
  return matches;
}

/** Filters the matches that span a boundary; both lists are in order. */
function across(matches: readonly MatchRange[], bounds: readonly number[]): readonly MatchRange[] {
  let next = 0;
  return matches.filter(({ from, to }) => {
    while ((bounds[next] ?? to) <= from) next += 1;
    return (bounds[next] ?? to) < to;
  });
}

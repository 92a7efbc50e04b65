/** Extent of a required match: the whole string, or anywhere in it. */
export type PatternMatch = "full" | "search";

/** An alternative of a pattern that consists of literals. */
export interface LiteralMatch {
  readonly text: string;
  /** Whether the string must begin, or end, with the literal; with both, be equal to it. */
  readonly isStart: boolean;
  readonly isEnd: boolean;
  /** Whether the rest of the string must have no line breaks, which `.` does not match. */
  readonly isOneLine: boolean;
}

/** An element of a sequence. */
type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "start" }
  | { readonly kind: "end" }
  /** `.*` */
  | { readonly kind: "any" };

type Sequence = readonly Piece[];

/** Maximum number of alternatives; patterns with more are matched by the engine. */
const MAX_ALTERNATIVES = 256;

/** Returns the literals of a pattern; `undefined` if it has other elements. */
export function literalsOf(
  pattern: string,
  match: PatternMatch,
): readonly LiteralMatch[] | undefined {
  const reader = new Reader(pattern);
  const sequences = reader.alternatives();
  if (sequences === undefined || !reader.isAtEnd) return undefined;
  const literals: LiteralMatch[] = [];
  for (const sequence of sequences) {
    const literal = literalOf(sequence, match);
    if (literal === undefined) return undefined;
    literals.push(literal);
  }
  return literals;
}

/** Parses a pattern as alternatives of sequences; groups are expanded. */
class Reader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#pattern.length;
  }

  alternatives(): readonly Sequence[] | undefined {
    const found: Sequence[] = [];
    do {
      const sequences = this.#sequences();
      if (sequences === undefined) return undefined;
      found.push(...sequences);
    } while (this.#take("|"));
    return found.length <= MAX_ALTERNATIVES ? found : undefined;
  }

  /** Parses an alternative; returns several if it contains a group with alternatives. */
  #sequences(): readonly Sequence[] | undefined {
    let sequences: readonly Sequence[] = [[]];
    while (!this.isAtEnd && !"|)".includes(this.#pattern.charAt(this.#at))) {
      const part = this.#part();
      if (part === undefined || /^[*+?{]/.test(this.#pattern.slice(this.#at))) return undefined;
      sequences = sequences.flatMap((before) => part.map((after) => [...before, ...after]));
      if (sequences.length > MAX_ALTERNATIVES) return undefined;
    }
    return sequences;
  }

  #part(): readonly Sequence[] | undefined {
    if (this.#take("^")) return [[{ kind: "start" }]];
    if (this.#take("$")) return [[{ kind: "end" }]];
    if (this.#take(".*")) return [[{ kind: "any" }]];
    if (this.#take("(?:")) return this.#group();
    if (this.#pattern.startsWith("(?", this.#at)) return undefined;
    if (this.#take("(")) return this.#group();
    const text = this.#character();
    return text === undefined ? undefined : [[{ kind: "text", text }]];
  }

  #group(): readonly Sequence[] | undefined {
    const inner = this.alternatives();
    return inner !== undefined && this.#take(")") ? inner : undefined;
  }

  /** Parses a literal character: itself, escaped punctuation, or a class of one. */
  #character(): string | undefined {
    const literal = /[^\\.+*?()|[\]{}^$]|\\([!-/:-@[-`{-~])|\[([^\\^\]\-[:])\]/uy;
    literal.lastIndex = this.#at;
    const match = literal.exec(this.#pattern);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match[1] ?? match[2] ?? match[0];
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

/** Returns the literals that a sequence requires of a string; `undefined` if it requires more than one at one place. */
function literalOf(sequence: Sequence, match: PatternMatch): LiteralMatch | undefined {
  const pieces = match === "full" ? [START, ...sequence, END] : sequence;
  const texts = pieces.filter((piece) => piece.kind === "text");
  const first = pieces.findIndex(({ kind }) => kind === "text");
  const last = pieces.findLastIndex(({ kind }) => kind === "text");
  const before = first < 0 ? pieces : pieces.slice(0, first);
  const after = first < 0 ? [] : pieces.slice(last + 1);
  const inner = first < 0 ? [] : pieces.slice(first, last + 1);
  if (inner.some(({ kind }) => kind !== "text")) return undefined;
  const text = texts.map((piece) => piece.text).join("");
  if (first < 0) return emptyLiteral(pieces);
  const [start, end] = [sideOf(before, "start"), sideOf(after, "end")];
  if (start === undefined || end === undefined || text.includes("\n")) return undefined;
  // With both ends anchored, a literal between two `.*` may be anywhere.
  const isOneLine = (start.isAnchored && start.hasAny) || (end.isAnchored && end.hasAny);
  if (isOneLine && start.isAnchored !== end.isAnchored) return undefined;
  return {
    text,
    isStart: start.isAnchored && !start.hasAny,
    isEnd: end.isAnchored && !end.hasAny,
    isOneLine,
  };
}

const START: Piece = { kind: "start" };
const END: Piece = { kind: "end" };

/**
 * Parses anchors and `.*` on one side of the literal: the anchor outermost, and nothing that belongs to the other side.
 */
function sideOf(
  pieces: Sequence,
  anchor: "start" | "end",
): { readonly isAnchored: boolean; readonly hasAny: boolean } | undefined {
  const outwards = anchor === "start" ? pieces : pieces.toReversed();
  const firstAny = outwards.findIndex(({ kind }) => kind === "any");
  const anchors = firstAny < 0 ? outwards : outwards.slice(0, firstAny);
  const rest = firstAny < 0 ? [] : outwards.slice(firstAny);
  if (anchors.some(({ kind }) => kind !== anchor)) return undefined;
  if (rest.some(({ kind }) => kind !== "any")) return undefined;
  return { isAnchored: anchors.length > 0, hasAny: firstAny >= 0 };
}

/** Returns the match of a sequence without literals: `^$`, `.*`, `^.*$` and the empty one. */
function emptyLiteral(pieces: Sequence): LiteralMatch | undefined {
  const kinds = pieces.map(({ kind }) => kind).join(" ");
  const nothing = { text: "", isStart: false, isEnd: false, isOneLine: false };
  if (/^(start )*start( end)+$/.test(kinds)) return { ...nothing, isStart: true, isEnd: true };
  if (/^(start )+any( any)*( end)+$/.test(kinds)) return { ...nothing, isOneLine: true };
  return /^(start|end|any( any)*|(start )+any( any)*|any( any)*( end)+)?$/.test(kinds)
    ? nothing
    : undefined;
}

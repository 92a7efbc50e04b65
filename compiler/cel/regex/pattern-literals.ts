/** Where a pattern must match: the whole text, or anywhere in it. */
export type PatternMatch = "full" | "search";

/** One alternative of a pattern that is made of literals. */
export interface LiteralMatch {
  readonly text: string;
  /** The text must begin, or end, with the literal; both: equal it. */
  readonly isStart: boolean;
  readonly isEnd: boolean;
  /** The rest of the text must be without line breaks: `.` does not match them. */
  readonly isOneLine: boolean;
}

/** A piece of a sequence. */
type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "start" }
  | { readonly kind: "end" }
  /** `.*` */
  | { readonly kind: "any" };

type Sequence = readonly Piece[];

/** More alternatives than this are left to the engine. */
const MAX_ALTERNATIVES = 256;

/** The literals that a pattern consists of; undefined for a pattern that is more than literals. */
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

/** Reads a pattern as alternatives of sequences; groups are multiplied out. */
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

  /** One alternative; several where it holds a group with alternatives. */
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

  /** A literal character: itself, escaped punctuation, or a class of one. */
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

/** What a sequence asks of a text; undefined when that is more than one literal at one place. */
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
  // with both sides anchored, a literal between two `.*` may stand anywhere
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

/** Anchors and `.*` on one side of the literal: the anchor outermost, and nothing of the other side. */
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

/** A sequence without text: `^$`, `.*`, `^.*$` and nothing at all. */
function emptyLiteral(pieces: Sequence): LiteralMatch | undefined {
  const kinds = pieces.map(({ kind }) => kind).join(" ");
  const nothing = { text: "", isStart: false, isEnd: false, isOneLine: false };
  if (/^(start )*start( end)+$/.test(kinds)) return { ...nothing, isStart: true, isEnd: true };
  if (/^(start )+any( any)*( end)+$/.test(kinds)) return { ...nothing, isOneLine: true };
  return /^(start|end|any( any)*|(start )+any( any)*|any( any)*( end)+)?$/.test(kinds)
    ? nothing
    : undefined;
}

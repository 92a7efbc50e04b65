/** A part of a text that was decided: it stays, or another one stands in its place. */
interface Segment {
  /** What is left of it, in UTF-16 units. */
  length: number;
  /** Undefined: it stays. */
  text: string | undefined;
}

/** One text of a stream, of which a server decides part by part while its events wait. */
export class StreamedText {
  readonly #segments: Segment[] = [];
  /** What is not decided. */
  pending = "";
  /** How much of it came, in UTF-16 units. */
  arrived = 0;
  /** Something of it came of which nobody was asked. */
  isFresh = false;
  #isAsked = false;
  #isComplete = false;
  /** What came of it, and what went out. */
  original = "";
  written = "";

  push(piece: string): void {
    this.pending += piece;
    this.original += piece;
    this.arrived += piece.length;
    this.isFresh ||= piece !== "";
  }

  /** Somebody is asked about what is pending. */
  ask(): string {
    this.isFresh = false;
    this.#isAsked = true;
    return this.pending;
  }

  /** Nothing more comes of it. */
  complete(): void {
    this.#isComplete = true;
    this.#settle();
  }

  /** How much of what came is decided. */
  get decided(): number {
    return this.arrived - this.pending.length;
  }

  /** The beginning of what is pending was `seen`, and is to be `given`; `overlap`: how much of its end is asked about again. */
  decide(seen: string, given: string, overlap: number): void {
    this.#isAsked = false;
    const isAll = this.#isComplete && this.pending.length === seen.length;
    const prefix = commonPrefix(seen, given);
    const suffix = seen === given ? seen.length : commonSuffix(seen, given, prefix);
    const kept = isAll ? 0 : wholeCharacters(seen, Math.min(suffix, overlap));
    if (seen === given) this.#add(seen.length - kept, undefined);
    else {
      this.#add(prefix, undefined);
      this.#add(seen.length - prefix - suffix, given.slice(prefix, given.length - suffix));
      this.#add(suffix - kept, undefined);
    }
    this.pending = this.pending.slice(seen.length - kept);
    this.#settle();
  }

  /** What goes out for the next piece. */
  leave(piece: string): string {
    let output = "";
    for (let at = 0; at < piece.length; ) {
      const [segment] = this.#segments;
      if (segment === undefined) {
        output += piece.slice(at);
        break;
      }
      const length = Math.min(segment.length, piece.length - at);
      output += segment.text ?? piece.slice(at, at + length);
      if (segment.text !== undefined) segment.text = "";
      segment.length -= length;
      at += length;
      if (segment.length === 0) this.#segments.shift();
    }
    this.written += output;
    return output;
  }

  /** What goes out behind its last piece. */
  leaveEnd(): string {
    const rest = this.#segments.map(({ text }) => text ?? "").join("");
    this.#segments.length = 0;
    this.written += rest;
    return rest;
  }

  /** What was seen whole needs no further look. */
  #settle(): void {
    if (!this.#isComplete || this.isFresh || this.#isAsked) return;
    this.#add(this.pending.length, undefined);
    this.pending = "";
  }

  #add(length: number, text: string | undefined): void {
    if (length > 0 || (text ?? "") !== "") this.#segments.push({ length, text });
  }
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

/** Of what stands behind the common beginning. */
function commonSuffix(a: string, b: string, prefix: number): number {
  const most = Math.min(a.length, b.length) - prefix;
  let length = 0;
  while (
    length < most &&
    a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)
  ) {
    length += 1;
  }
  return length;
}

/** As much of the end of a text, without the second half of a character. */
function wholeCharacters(text: string, length: number): number {
  const unit = text.charCodeAt(text.length - length);
  return unit >= 0xdc00 && unit <= 0xdfff ? length - 1 : length;
}

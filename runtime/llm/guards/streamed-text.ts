/** A decided part of a text: unchanged, or replaced. */
interface Segment {
  /** Remaining length, in UTF-16 units. */
  length: number;
  /** Replacement; `undefined` if unchanged. */
  text: string | undefined;
}

/** One text of a stream, decided part by part by a server while its events wait. */
export class StreamedText {
  readonly #segments: Segment[] = [];
  /** Undecided text. */
  pending = "";
  /** Received length, in UTF-16 units. */
  arrived = 0;
  /** Whether some of it has not been sent to the server. */
  isFresh = false;
  #isSent = false;
  #isComplete = false;
  /** Received text, and sent text. */
  original = "";
  written = "";

  push(piece: string): void {
    this.pending += piece;
    this.original += piece;
    this.arrived += piece.length;
    this.isFresh ||= piece !== "";
  }

  /** Returns the undecided text, to be sent to the server. */
  takePending(): string {
    this.isFresh = false;
    this.#isSent = true;
    return this.pending;
  }

  /** Marks the text as complete. */
  complete(): void {
    this.#isComplete = true;
    this.#settle();
  }

  /** Length of the decided text. */
  get decided(): number {
    return this.arrived - this.pending.length;
  }

  /**
   * Decides the start of the undecided text: `seen` becomes `given`. `overlap`: length of its end that is sent to the server
   * again.
   */
  decide(seen: string, given: string, overlap: number): void {
    this.#isSent = false;
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

  /** Returns the output for the next piece. */
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

  /** Returns the output after the last piece. */
  leaveEnd(): string {
    const rest = this.#segments.map(({ text }) => text ?? "").join("");
    this.#segments.length = 0;
    this.written += rest;
    return rest;
  }

  /** Decides the rest of a complete text that the server has seen. */
  #settle(): void {
    if (!this.#isComplete || this.isFresh || this.#isSent) return;
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

/** Returns the length of the common suffix after the common prefix. */
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

/** Returns the length without the second half of a surrogate pair at the start. */
function wholeCharacters(text: string, length: number): number {
  const unit = text.charCodeAt(text.length - length);
  return unit >= 0xdc00 && unit <= 0xdfff ? length - 1 : length;
}

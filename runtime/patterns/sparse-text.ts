import { isPlain } from "./reading.ts";

/**
 * Limits the optional characters of a text that arrives in pieces, because each costs an automaton a state of its own.
 * Beyond the limit, tags are removed from the text and blanks become spaces, so that nothing passes unread.
 */
export class SparseText {
  #count = 0;

  /** Returns the next piece, with its optional characters limited. */
  push(piece: string): string {
    if (isPlain(piece)) return piece;
    const found = piece.match(MAY_BE_OPTIONAL);
    if (found === null) return piece;
    this.#count += found.length;
    return this.#count <= MAX_OPTIONAL ? piece : piece.replaceAll(MAY_BE_OPTIONAL, plainBlank);
  }
}

function plainBlank(character: string): string {
  return character >= "\udb40" && character < "\udb41" ? "" : " ";
}

/** Maximum number of them in a text. */
const MAX_OPTIONAL = 512;

/** Tags, a surrogate half whose other half may follow with the next piece, and blanks. */
const MAY_BE_OPTIONAL =
  /[\u{e0020}-\u{e007e}\udb40\u000b\u0085\u2028\u2029\u115f\u1160\u2800\u3164\ua8f9\uffa0\u{10af6}\u{1144e}\u{11945}\u{11f48}\u{13441}\u{13442}\u{1d159}]/gu;

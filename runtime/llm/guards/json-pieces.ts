import type { PieceGuard } from "../chat/texts.ts";

/**
 * Guards JSON arguments of a tool that arrive in pieces. Strings are guarded unescaped, and written as JSON again. Numbers
 * and invalid JSON are guarded as text.
 */
export class JsonPieces implements PieceGuard {
  readonly #open: (isText: boolean) => PieceGuard;
  #guard: PieceGuard;
  #isInString = false;
  /** Start of an incomplete escape. */
  #escape = "";

  /** `open`: creates a guard for a string, or for the JSON between strings. */
  constructor(open: (isText: boolean) => PieceGuard) {
    this.#open = open;
    this.#guard = open(false);
  }

  push(piece: string): string {
    const source = this.#escape + piece;
    this.#escape = "";
    let output = "";
    let text = "";
    let at = 0;
    while (at < source.length) {
      const character = source.charAt(at);
      if (character === '"') {
        output += this.#write(text) + this.#rest() + character;
        text = "";
        this.#isInString = !this.#isInString;
        this.#guard = this.#open(this.#isInString);
        at += 1;
      } else if (character === "\\" && this.#isInString) {
        const length = source.charAt(at + 1) === "u" ? 6 : 2;
        if (at + length > source.length) {
          this.#escape = source.slice(at);
          break;
        }
        text += unescaped(source.slice(at, at + length));
        at += length;
      } else {
        text += character;
        at += 1;
      }
    }
    return output + this.#write(text);
  }

  end(): string {
    const rest = this.#escape === "" ? "" : this.#write(this.#escape);
    this.#escape = "";
    return rest + this.#rest();
  }

  #write(text: string): string {
    return text === "" ? "" : this.#written(this.#guard.push(text));
  }

  #rest(): string {
    return this.#written(this.#guard.end());
  }

  #written(text: string): string {
    return this.#isInString ? JSON.stringify(text).slice(1, -1) : text;
  }
}

/** Returns the character of an escape; invalid escapes remain. */
function unescaped(sequence: string): string {
  try {
    return String(JSON.parse(`"${sequence}"`));
  } catch {
    return sequence;
  }
}

import type { PieceGuard } from "../chat/texts.ts";

/**
 * Guards the JSON of a tool's arguments that comes in pieces: texts are seen as they read, whatever escapes they are
 * written with, and what stands in their place is JSON again. Numbers and what is no JSON are texts too.
 */
export class JsonPieces implements PieceGuard {
  readonly #open: (isText: boolean) => PieceGuard;
  #guard: PieceGuard;
  #isInString = false;
  /** The beginning of an escape. */
  #escape = "";

  /** `open`: guards one text, or what stands between texts. */
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

/** The character of an escape; what is none stays. */
function unescaped(sequence: string): string {
  try {
    return String(JSON.parse(`"${sequence}"`));
  } catch {
    return sequence;
  }
}

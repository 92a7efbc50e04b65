import type { PartsGuard, PieceGuard, TextGuards } from "../chat/texts.ts";
import type { TextPlace } from "../chat/whole-texts.ts";
import { StreamedText } from "./streamed-text.ts";

/** The texts of a stream as they arrive: they are gathered, and left as they are. */
export class ArrivingTexts implements TextGuards {
  /** In the order in which they begin. */
  readonly texts: StreamedText[] = [];
  /** Formats say at the end of a text what it was as a whole: that was seen. */
  readonly #known = new Set<string>();
  #needs = new Map<StreamedText, number>();
  /** How much came of which nobody was asked, in UTF-16 units. */
  fresh = 0;

  /** What the event that was seen last needs: how much of each text it ends with. */
  takeNeeds(): readonly (readonly [StreamedText, number])[] {
    const needs = [...this.#needs];
    this.#needs = new Map();
    return needs;
  }

  /** The texts of which something is new. */
  takeFresh(): readonly StreamedText[] {
    const found = this.texts.filter(({ isFresh }) => isFresh);
    this.fresh = 0;
    return found;
  }

  replace(text: string, { part }: TextPlace): string {
    // What a response repeats of its request is not the model's.
    if (part === "systemPrompt" || text === "" || this.#known.has(text)) return text;
    const guard = this.open();
    guard.push(text);
    guard.end();
    return text;
  }

  replaceJson(text: string, place: TextPlace): string {
    return this.replace(text, place);
  }

  open(): PieceGuard {
    const text = new StreamedText();
    this.texts.push(text);
    return {
      push: (piece) => {
        text.push(piece);
        this.fresh += piece.length;
        this.#needs.set(text, text.arrived);
        return piece;
      },
      end: () => {
        text.complete();
        this.#known.add(text.original);
        return "";
      },
    };
  }

  openJson(): PieceGuard {
    return this.open();
  }

  openParts(): PartsGuard {
    return new SingleParts(this);
  }
}

/** The same texts as they leave: with what was decided of them. */
export class LeavingTexts implements TextGuards {
  readonly #texts: readonly StreamedText[];
  /** What whole texts have become. */
  readonly #known = new Map<string, string>();
  #at = 0;
  /** What comes now is the gateway's own. */
  isOver = false;

  /** `texts`: in the order in which they began. */
  constructor(texts: readonly StreamedText[]) {
    this.#texts = texts;
  }

  replace(text: string, { part }: TextPlace): string {
    if (this.isOver || part === "systemPrompt" || text === "") return text;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const guard = this.open();
    return guard.push(text) + guard.end();
  }

  replaceJson(text: string, place: TextPlace): string {
    return this.replace(text, place);
  }

  open(): PieceGuard {
    const text = this.#texts[this.#at];
    this.#at += 1;
    return {
      push: (piece) => (this.isOver ? piece : (text?.leave(piece) ?? piece)),
      end: () => {
        if (this.isOver || text === undefined) return "";
        const rest = text.leaveEnd();
        this.#known.set(text.original, text.written);
        return rest;
      },
    };
  }

  openJson(): PieceGuard {
    return this.open();
  }

  openParts(): PartsGuard {
    return new SingleParts(this);
  }
}

/** Parts of which each is a text of its own: servers are asked about several texts at once. */
class SingleParts implements PartsGuard {
  readonly #texts: TextGuards;
  #part: PieceGuard | undefined;

  constructor(texts: TextGuards) {
    this.#texts = texts;
  }

  push(piece: string): readonly string[] {
    this.#part ??= this.#texts.open();
    return [this.#part.push(piece)];
  }

  next(): readonly string[] {
    return [...this.end(), ""];
  }

  release(): readonly string[] {
    return this.end();
  }

  end(): readonly string[] {
    const rest = this.#part?.end() ?? "";
    this.#part = undefined;
    return [rest];
  }
}

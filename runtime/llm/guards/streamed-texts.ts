import type { PartsGuard, PieceGuard, TextGuards } from "../chat/texts.ts";
import type { TextPlace } from "../chat/whole-texts.ts";
import { StreamedText } from "./streamed-text.ts";

/** Collects the texts of a stream as they arrive, without changing them. */
export class ArrivingTexts implements TextGuards {
  /** In the order in which they start. */
  readonly texts: StreamedText[] = [];
  /** Complete texts, which formats repeat as a whole at their end. */
  readonly #known = new Set<string>();
  #needs = new Map<StreamedText, number>();
  /** Length that has not been sent to the server, in UTF-16 units. */
  fresh = 0;

  /** Returns the texts of the last event, and how much of each it needs. */
  takeNeeds(): readonly (readonly [StreamedText, number])[] {
    const needs = [...this.#needs];
    this.#needs = new Map();
    return needs;
  }

  /** Returns the texts with new content. */
  takeFresh(): readonly StreamedText[] {
    const found = this.texts.filter(({ isFresh }) => isFresh);
    this.fresh = 0;
    return found;
  }

  replace(text: string, { part }: TextPlace): string {
    // Parts that a response repeats from its request are not the model's.
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

/** Replaces the same texts as they leave, as decided. */
export class LeavingTexts implements TextGuards {
  readonly #texts: readonly StreamedText[];
  /** Results of whole texts. */
  readonly #known = new Map<string, string>();
  #at = 0;
  /** Whether further texts are the gateway's own. */
  isOver = false;

  /** `texts`: in the order in which they started. */
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

/** Treats each part as a separate text, because servers receive several texts at once. */
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

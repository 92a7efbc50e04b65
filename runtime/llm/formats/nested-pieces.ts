import type { TextPlace, WholeTexts } from "../chat/whole-texts.ts";

/** A text in a value: its index, and its kind. */
export interface NestedPiece {
  readonly number: number;
  readonly isPart: boolean;
  readonly isJson: boolean;
}

/** Texts of a value that the next event continues. Names are not continued. */
export class NestedPieces implements WholeTexts {
  readonly #texts: WholeTexts;
  readonly #take: (piece: string, nested: NestedPiece) => string;
  #number = 0;

  /** `texts`: for names. `take`: returns the decided part of a text. */
  constructor(texts: WholeTexts, take: (piece: string, nested: NestedPiece) => string) {
    this.#texts = texts;
    this.#take = take;
  }

  replace(text: string, place: TextPlace): string {
    if (place.isName === true) return this.#texts.replace(text, place);
    return this.#taken(text, { isPart: place.isPart === true, isJson: false });
  }

  replaceJson(text: string): string {
    return this.#taken(text, { isPart: false, isJson: true });
  }

  #taken(text: string, kind: Omit<NestedPiece, "number">): string {
    const number = this.#number;
    this.#number += 1;
    return this.#take(text, { number, ...kind });
  }
}

/** Reduces a value to one of its texts, in order to continue that text. */
export class OnlyText implements WholeTexts {
  readonly #number: number;
  readonly #text: string;
  #at = 0;

  constructor(number: number, text: string) {
    this.#number = number;
    this.#text = text;
  }

  replace(_: string, { isName }: TextPlace): string {
    return isName === true ? "" : this.#next();
  }

  replaceJson(): string {
    return this.#next();
  }

  #next(): string {
    this.#at += 1;
    return this.#at - 1 === this.#number ? this.#text : "";
  }
}

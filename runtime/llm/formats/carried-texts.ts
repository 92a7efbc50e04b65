import type { TextGuards } from "../chat/texts.ts";
import type { TextPlace, WholeTexts } from "../chat/whole-texts.ts";

/** Texts of an event that later events may continue, apart from parts of content. */
export class CarriedTexts implements WholeTexts {
  readonly #texts: TextGuards;
  readonly #kind: string;
  /** By key: number of members with that name so far. */
  readonly #counts = new Map<string, number>();

  /** `kind`: common name of the events that may continue a text. */
  constructor(texts: TextGuards, kind: string) {
    this.#texts = texts;
    this.#kind = kind;
  }

  replace(text: string, place: TextPlace, key = ""): string {
    if (place.isPart === true || this.#texts.carry === undefined) {
      return this.#texts.replace(text, place);
    }
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return this.#texts.carry(text, place, `${this.#kind} ${key} ${count}`);
  }

  replaceJson(text: string, place: TextPlace): string {
    return this.#texts.replaceJson(text, place);
  }
}

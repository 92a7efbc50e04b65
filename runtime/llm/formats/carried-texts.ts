import type { TextGuards } from "../chat/texts.ts";
import type { TextPlace, WholeTexts } from "../chat/whole-texts.ts";

/** The texts of an event that are said whole, but for their parts: a later event may say more of each of them. */
export class CarriedTexts implements WholeTexts {
  readonly #texts: TextGuards;
  readonly #kind: string;
  /** By key: how many members of that name came before. */
  readonly #counts = new Map<string, number>();

  /** `kind`: what events have in common of which a text may go on. */
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

import type { TextPart, TextPlace, WholeTexts } from "../chat/whole-texts.ts";

/** A text, and who says it. */
export interface RoleText {
  readonly role: string;
  readonly text: string;
}

/** Gathers the whole texts of some parts, and leaves them as they are. Empty ones say nothing. */
export class GatheredTexts implements WholeTexts {
  readonly texts: RoleText[] = [];
  readonly #scope: readonly TextPart[] | undefined;

  /** `scope`: the parts; undefined: all. */
  constructor(scope: readonly TextPart[] | undefined) {
    this.#scope = scope;
  }

  replace(text: string, place: TextPlace): string {
    if (isInScope(text, place, this.#scope)) this.texts.push({ role: place.role, text });
    return text;
  }

  replaceJson(text: string, place: TextPlace): string {
    return this.replace(text, place);
  }
}

/** Puts texts in the place of those that were gathered, in the same order. */
export class GivenTexts implements WholeTexts {
  readonly #scope: readonly TextPart[] | undefined;
  readonly #texts: readonly string[];
  #at = 0;

  constructor(scope: readonly TextPart[] | undefined, texts: readonly string[]) {
    this.#scope = scope;
    this.#texts = texts;
  }

  replace(text: string, place: TextPlace): string {
    if (!isInScope(text, place, this.#scope)) return text;
    const given = this.#texts[this.#at] ?? text;
    this.#at += 1;
    return given;
  }

  replaceJson(text: string, place: TextPlace): string {
    return this.replace(text, place);
  }
}

/** Whether a text is looked at. Empty ones say nothing. `scope`: the parts; undefined: all. */
export function isInScope(
  text: string,
  { part }: TextPlace,
  scope: readonly TextPart[] | undefined,
): boolean {
  return text !== "" && scope?.includes(part) !== false;
}

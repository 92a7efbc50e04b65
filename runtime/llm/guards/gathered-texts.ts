import type { RoleText } from "../../http/exchange.ts";
import type { TextPart, TextPlace, WholeTexts } from "../chat/whole-texts.ts";

/** Collects the texts in scope without changing them. Empty ones are ignored. */
export class GatheredTexts implements WholeTexts {
  readonly texts: RoleText[] = [];
  readonly #scope: readonly TextPart[] | undefined;

  /** `scope`: the parts; `undefined` for all. */
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

/** Replaces the collected texts, in the same order. */
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

/** Whether a text is guarded. Empty ones are not. `scope`: the parts; `undefined` for all. */
export function isInScope(
  text: string,
  { part }: TextPlace,
  scope: readonly TextPart[] | undefined,
): boolean {
  return text !== "" && scope?.includes(part) !== false;
}

/** Role of a text in a request. */
export type TextPart = "systemPrompt" | "messages" | "toolInput" | "toolOutput";

/** Place of a text. */
export interface TextPlace {
  /** Role of its author, as formats name it: `user`. */
  readonly role: string;
  readonly part: TextPart;
  /** Whether it is a name: letters, digits, `_` and `-`. */
  readonly isName?: true;
  /** Whether it directly follows the previous text of the same role, so that a match may span both. */
  readonly isPart?: true;
}

/** Replaces whole texts. */
export interface WholeTexts {
  /** `key`: key of the member with the text; absent if there is no key. */
  replace(text: string, place: TextPlace, key?: string): string;
  /** Replaces the texts in JSON arguments of a tool. */
  replaceJson(text: string, place: TextPlace): string;
}

/** What a text is in a request: whose words, or what a tool is told or says. */
export type TextPart = "systemPrompt" | "messages" | "toolInput" | "toolOutput";

/** Where a text stands. */
export interface TextPlace {
  /** Who says it, as formats call them: `user`. */
  readonly role: string;
  readonly part: TextPart;
  /** It names somebody or something: letters, digits, `_` and `-`. */
  readonly isName?: true;
  /** It is read behind the one before it that the same role says: they may be one text in parts. */
  readonly isPart?: true;
}

/** What becomes of texts that are whole. */
export interface WholeTexts {
  /** `key`: of the member that it is; absent: it is none. */
  replace(text: string, place: TextPlace, key?: string): string;
  /** The JSON of a tool's arguments. */
  replaceJson(text: string, place: TextPlace): string;
}

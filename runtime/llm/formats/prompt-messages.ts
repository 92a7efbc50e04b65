/** A message that the configuration adds to every prompt. */
export interface PromptMessage {
  /** In lower case. */
  readonly role: string;
  readonly content: string;
}

/** Messages before and after those of a request. */
export interface PromptMessages {
  readonly prepend?: readonly PromptMessage[];
  readonly append?: readonly PromptMessage[];
}

import type { JsonObject } from "../../cel/variables.ts";

/** A search of the web that the provider runs if the model asks for it. */
export interface WebSearch {
  /** Maximum number of searches; `undefined` if there is no limit. */
  readonly maxUses: number | undefined;
  /** Domains of the only pages that may be found; `undefined` for all. */
  readonly allowedDomains: readonly string[] | undefined;
  readonly blockedDomains: readonly string[] | undefined;
  /** Approximate place of the user: `city`, `region`, `country` and `timezone`. */
  readonly location: JsonObject | undefined;
  /** How much of the pages the model reads, in OpenAI's words: `high`. `undefined` if the provider chooses. */
  readonly contextSize: string | undefined;
  /** Whether the model has to search. */
  readonly isForced: boolean;
}

/** A search without limits. */
export const ANY_SEARCH: WebSearch = {
  maxUses: undefined,
  allowedDomains: undefined,
  blockedDomains: undefined,
  location: undefined,
  contextSize: undefined,
  isForced: false,
};

/** A page of the web. */
export interface WebPage {
  readonly url: string;
  readonly title: string;
}

/** A search that the provider ran. */
export interface SearchBlock {
  readonly kind: "search";
  readonly id: string;
  readonly query: string;
  /** The pages that it found, as far as the provider reports them. */
  readonly pages: readonly WebPage[];
}

/** Positions of citations in the text of a completion, as OpenAI's APIs count them. */
export class CitedText {
  #length = 0;
  #start = 0;
  #end = 0;

  add(text: string): void {
    this.#length += text.length;
  }

  /** Returns a citation of a page by the text since the last cited one. */
  cite({ url, title }: WebPage): JsonObject {
    if (this.#length > this.#end) {
      this.#start = this.#end;
      this.#end = this.#length;
    }
    return { start_index: this.#start, end_index: this.#end, url, title };
  }
}

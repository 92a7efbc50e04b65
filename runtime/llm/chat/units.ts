/** Billed units of a call besides tokens. */
export interface Units {
  /** Characters of a text that is spoken. */
  readonly characters?: number;
  /** Seconds of audio that was transcribed. */
  readonly seconds?: number;
  /** Generated images. */
  readonly images?: number;
  /** Documents that were ranked. */
  readonly documents?: number;
  /** Searches that a provider bills for a ranking. */
  readonly searches?: number;
}

/** Names of the units. */
export const BILLED_UNITS = ["characters", "seconds", "images", "documents", "searches"] as const;

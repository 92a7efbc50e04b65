/** Tokens of one call. Inputs from the cache, read and written, are part of `input`; reasoning is part of `output`. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Undefined: the provider does not say. */
  readonly reasoning: number | undefined;
}

/** Tokens of one call. Inputs from the cache, read and written, are part of `input`; reasoning is part of `output`. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Undefined: the provider does not say. */
  readonly reasoning: number | undefined;
}

/** A count as a provider wrote it; undefined when it is none. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

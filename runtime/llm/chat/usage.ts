/** Tokens of one call. `input` includes tokens read from and written to the cache; `output` includes reasoning. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** `undefined` if the provider does not report it. */
  readonly reasoning: number | undefined;
}

/** Returns a provider's count; `undefined` if the value is not a count. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

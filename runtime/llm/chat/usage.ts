/** Tokens of one call. `input` includes tokens read from and written to the cache; `output` includes reasoning; both include audio. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** `undefined` if the provider does not report it. */
  readonly reasoning: number | undefined;
  /** Audio tokens in `input`; absent if the provider does not report them. */
  readonly inputAudio?: number;
  /** Audio tokens in `cacheRead`; absent if the provider does not report them. */
  readonly cachedAudio?: number;
  /** Audio tokens in `output`; absent if the provider does not report them. */
  readonly outputAudio?: number;
  /** Priority with which the call was served; absent if the provider does not report it. */
  readonly tier?: ServiceTier;
}

/** Priority with which a provider serves a call. `standard`: the one of calls that ask for none. */
export type ServiceTier = "standard" | "priority" | "flex" | "scale" | "batch" | "reserved";

/** Adds a provider's counts of audio tokens to the others, without those that are zero or no counts. */
export function withAudio(
  usage: Usage,
  counts: Readonly<Record<"inputAudio" | "cachedAudio" | "outputAudio", unknown>>,
): Usage {
  const inputAudio = tokenCount(counts.inputAudio) ?? 0;
  const cachedAudio = tokenCount(counts.cachedAudio) ?? 0;
  const outputAudio = tokenCount(counts.outputAudio) ?? 0;
  // Nearly no call has audio, and copies cost time.
  if (inputAudio + cachedAudio + outputAudio === 0) return usage;
  return {
    ...usage,
    ...(inputAudio > 0 && { inputAudio }),
    ...(cachedAudio > 0 && { cachedAudio }),
    ...(outputAudio > 0 && { outputAudio }),
  };
}

/** Returns a provider's count; `undefined` if the value is not a count. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

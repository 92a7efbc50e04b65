/** Estimated tokens of a prompt with a number of words. */
export function tokensOfWords(words: number): number {
  return words * TOKENS_PER_WORD;
}

const TOKENS_PER_WORD = 1.3;

/** Matches a word, or a character of Thai, Lao, Chinese, Japanese or Korean, which have few spaces. */
const WORD =
  /[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/g;

/** Counts words in all strings of a value; base64 counts as one. */
export function wordsIn(value: unknown): number {
  if (typeof value === "string") return value.match(WORD)?.length ?? 0;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + wordsIn(each), 0);
}

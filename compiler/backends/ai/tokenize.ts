import { boolean } from "../../schema/schema.ts";

/** Schema of `tokenize` of a provider, wherever it is allowed. */
export const tokenize = boolean(
  "Whether to deduct an estimate of the request's tokens from token limits before it is sent; the provider's count replaces it afterwards. The estimate is a quarter of the bytes of its text: no published tokenizer is exact for Claude or Gemini, and the tables of others take 100 MB.",
  { default: false },
);

import { boolean } from "../../schema/schema.ts";

/** `tokenize` of a provider, wherever it is named. */
export const tokenize = boolean(
  "Whether about as many tokens as a request has (a quarter of the bytes of its texts: no published tokenizer is exact for Claude or Gemini, and the tables of others take 100 MB) are taken from limits of tokens before it goes out; what the provider counts takes their place.",
  { default: false },
);

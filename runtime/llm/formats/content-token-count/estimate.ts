import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { camelMembers } from "../generate-content/google-object.ts";
import { PER_IMAGE, PER_MESSAGE, tokensOfBytes, tokensOfJson } from "../token-count/estimate.ts";

/** Estimates the tokens of a request of generateContent: a quarter of the bytes of all text, and fixed amounts for files. */
export function estimateContentTokens(body: JsonObject): number {
  const { generateContentRequest: whole } = camelMembers(body);
  const {
    contents,
    systemInstruction: system,
    tools,
    toolConfig: choice,
  } = camelMembers(isJsonObject(whole) ? whole : body);
  const parts = [contentTokens(contents), contentTokens(system), tokensOfJson(tools)];
  const sum = parts.reduce((total, each) => total + each, tokensOfJson(choice));
  return Math.max(1, Math.ceil(sum));
}

/** Estimates a list of contents or parts, or one of those. */
function contentTokens(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value) / 4;
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, each) => sum + contentTokens(each), 0);
  }
  if (!isJsonObject(value)) return 0;
  if (value.parts !== undefined) return PER_MESSAGE + contentTokens(value.parts);
  const { inlineData, fileData, thoughtSignature: _, ...part } = camelMembers(value);
  const found = [inlineData, fileData].find(isJsonObject);
  if (found === undefined) return tokensOfJson(part);
  const media = camelMembers(found);
  const isImage = String(media.mimeType ?? "image/").startsWith("image/");
  return isImage ? PER_IMAGE : tokensOfBytes(media.data);
}

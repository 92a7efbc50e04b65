import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";

/**
 * Estimates the tokens of a request of the Messages API: a quarter of the bytes of all text, including tools and their
 * schemas, and fixed amounts for images and files.
 */
export function estimateTokens({
  system,
  messages,
  tools,
  tool_choice: choice,
}: JsonObject): number {
  const parts = [content(system), content(messages), tokensOfJson(tools), tokensOfJson(choice)];
  return Math.max(1, Math.ceil(parts.reduce((sum, part) => sum + part, 0)));
}

/** Estimates a prompt, a list of messages or blocks, or one of those. */
function content(value: unknown): number {
  if (typeof value === "string") return words(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + content(each), 0);
  if (!isJsonObject(value)) return 0;
  switch (value.type) {
    case "text":
      return content(value.text);
    case "image":
      return PER_IMAGE;
    case "document":
      return file(value.source) + content(value.title) + content(value.context);
    case "tool_use":
      return content(value.name) + tokensOfJson(value.input);
    case "thinking":
      return content(value.thinking);
    case "tool_result":
      return PER_MESSAGE + content(value.content);
    case undefined:
      return PER_MESSAGE + content(value.content);
    default:
      return tokensOfJson(value);
  }
}

/** Tokens that a model adds to each message. */
export const PER_MESSAGE = 4;

/** Images are scaled down to this maximum (docs.anthropic.com, Vision). */
export const PER_IMAGE = 1600;

/** A page is read as text and as an image: 1,500 to 3,000 tokens (docs.anthropic.com, PDF support). */
const PER_PAGE = 2000;

/** Estimates a document by its number of pages, if they can be counted, or else by its length. */
function file(source: unknown): number {
  if (!isJsonObject(source)) return PER_PAGE;
  const { type, data } = source;
  if (type === "text") return content(data);
  if (type === "content") return content(source.content);
  return tokensOfBytes(data);
}

/** Estimates a file in base64; a page if its bytes are not there. */
export function tokensOfBytes(data: unknown): number {
  if (typeof data !== "string") return PER_PAGE;
  const bytes = Buffer.from(data, "base64");
  const pages = bytes.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length;
  return PER_PAGE * (pages ?? Math.ceil(bytes.length / BYTES_PER_PAGE));
}

/** Typical size of a page in a PDF with some images. */
const BYTES_PER_PAGE = 100_000;

/** Estimates a value by its JSON. */
export function tokensOfJson(value: unknown): number {
  return value === undefined || value === null ? 0 : words(JSON.stringify(value));
}

function words(value: string): number {
  return Buffer.byteLength(value) / 4;
}

import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

const decoders = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/**
 * The content of a body with a Content-Encoding (RFC 9110 8.4), at most `limit` bytes: decoding stops there, whatever
 * the body would become. `"unknown"`: another coding, or several.
 */
export async function decodeBody(
  body: Uint8Array,
  coding: string | undefined,
  limit: number,
): Promise<Uint8Array | "too-large" | "malformed" | "unknown"> {
  const name = coding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity" || body.length === 0) return body;
  if (!Object.hasOwn(decoders, name)) return "unknown";
  try {
    // The name is a key: it was just looked up.
    return await decoders[name as keyof typeof decoders](body, { maxOutputLength: limit });
  } catch (error) {
    const isTooLarge =
      error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return isTooLarge ? "too-large" : "malformed";
  }
}

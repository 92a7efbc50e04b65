import { promisify } from "node:util";
import { brotliDecompress, constants, gunzip, inflate, zstdDecompress } from "node:zlib";

const unzip = promisify(gunzip);
const unzstd = promisify(zstdDecompress);

/** RFC 9659: 8 MB. A sender could ask for 128 MB of memory before the first byte. */
const zstdWindow = { [constants.ZSTD_d_windowLogMax]: 23 };

const decoders = {
  gzip: unzip,
  "x-gzip": unzip,
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: (body: Uint8Array, { maxOutputLength }: { readonly maxOutputLength: number }) =>
    unzstd(body, { maxOutputLength, params: zstdWindow }),
} as const;

/** What zlib says of content that is longer than it may be, or would need more memory. */
const tooLarge: ReadonlySet<unknown> = new Set([
  "ERR_BUFFER_TOO_LARGE",
  "ZSTD_error_frameParameter_windowTooLarge",
]);

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
    const isTooLarge = error instanceof Error && "code" in error && tooLarge.has(error.code);
    return isTooLarge ? "too-large" : "malformed";
  }
}

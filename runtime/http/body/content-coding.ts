import type { Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import type { CountedBuffer } from "./counted-buffer.ts";

/** RFC 9659: 8 MB. Without this limit, a sender could make the decoder allocate 128 MB before the first byte. */
const zstdWindow = { [constants.ZSTD_d_windowLogMax]: 23 };

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["deflate", () => createInflate()],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress({ params: zstdWindow })],
]);

/** Error of zlib if content requires more memory than the limit. */
const WINDOW_TOO_LARGE = "ZSTD_error_frameParameter_windowTooLarge";

/** Why content cannot be decoded. `"unknown"`: an unsupported coding, or several. */
export type DecodeProblem = "too-large" | "no-room" | "malformed" | "unknown";

/** Whether a Content-Encoding means that the bytes are encoded. */
export function isCoded(coding: string | undefined): coding is string {
  if (coding === undefined) return false;
  const name = coding.trim().toLowerCase();
  return name !== "" && name !== "identity";
}

/**
 * Decodes a body with a Content-Encoding (RFC 9110 8.4) up to `limit` bytes, where decoding stops. The result is held in
 * `buffer`.
 */
export function decodeBody(
  body: Uint8Array,
  coding: string | undefined,
  limit: number,
  buffer: CountedBuffer,
): Promise<Uint8Array | DecodeProblem> {
  if (!isCoded(coding) || body.length === 0) return Promise.resolve(body);
  const decoder = decoders.get(coding.trim().toLowerCase())?.();
  if (decoder === undefined) return Promise.resolve("unknown");
  return new Promise((resolve) => {
    const fail = (problem: DecodeProblem) => {
      decoder.destroy();
      buffer.release();
      resolve(problem);
    };
    decoder.on("data", (piece: Buffer) => {
      if (buffer.length + piece.length > limit) fail("too-large");
      else if (!buffer.push(piece)) fail("no-room");
    });
    decoder.on("end", () => resolve(buffer.bytes()));
    decoder.on("error", (error: NodeJS.ErrnoException) =>
      fail(error.code === WINDOW_TOO_LARGE ? "too-large" : "malformed"),
    );
    decoder.end(body);
  });
}

import type { Transform } from "node:stream";
import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzipSync,
  inflateSync,
  zstdDecompressSync,
} from "node:zlib";
import type { CountedBuffer } from "./counted-buffer.ts";

/** RFC 9659: 8 MB. Without this limit, a sender could make the decoder allocate 128 MB before the first byte. */
const zstdWindow = { [constants.ZSTD_d_windowLogMax]: 23 };

interface Decoder {
  readonly open: () => Transform;
  readonly decode: (body: Uint8Array, maxOutputLength: number) => Uint8Array;
}

const gzip: Decoder = {
  open: () => createGunzip(),
  decode: (body, maxOutputLength) => gunzipSync(body, { maxOutputLength }),
};
const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  [
    "deflate",
    {
      open: () => createInflate(),
      decode: (body, maxOutputLength) => inflateSync(body, { maxOutputLength }),
    },
  ],
  [
    "br",
    {
      open: () => createBrotliDecompress(),
      decode: (body, maxOutputLength) => brotliDecompressSync(body, { maxOutputLength }),
    },
  ],
  [
    "zstd",
    {
      open: () => createZstdDecompress({ params: zstdWindow }),
      decode: (body, maxOutputLength) =>
        zstdDecompressSync(body, { params: zstdWindow, maxOutputLength }),
    },
  ],
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
  const decoder = openDecoder(coding);
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

/**
 * Decodes a body synchronously, for what reads few and short bodies. Returns `undefined` if it cannot be decoded or is longer
 * than `limit` bytes.
 */
export function decodeNow(
  body: Uint8Array,
  coding: string | undefined,
  limit: number,
): Uint8Array | undefined {
  if (!isCoded(coding) || body.length === 0) return body;
  try {
    return decoderOf(coding)?.decode(body, limit);
  } catch {
    return undefined;
  }
}

/** Opens a decoder of pieces that arrive one after another; `undefined` for an unsupported coding, or several. */
export function openDecoder(coding: string): Transform | undefined {
  return decoderOf(coding)?.open();
}

function decoderOf(coding: string): Decoder | undefined {
  return decoders.get(coding.trim().toLowerCase());
}

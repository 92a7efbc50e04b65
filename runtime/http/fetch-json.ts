import { request } from "undici";
import type { JsonObject } from "../cel/variables.ts";

/** Milliseconds from the first byte sent to the last byte read. */
const deadline = 5_000;
const maxBytes = 512 * 1024;

/**
 * Fetches a JSON object that the configuration names by URL (a key set, a server's metadata): within 5 seconds, at most
 * 512 KiB, without following redirects, which could lead anywhere. Throws when it does not get one.
 */
export async function fetchJson(url: string): Promise<JsonObject> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error("timeout")), deadline);
  try {
    const answer = await request(url, {
      headers: { accept: "application/json" },
      signal: abort.signal,
      reset: true,
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new Error(`status ${answer.statusCode}`);
    }
    return parseObject(await readBounded(answer.body));
  } finally {
    clearTimeout(timer);
  }
}

/** Collects a body; throws when it is longer than 512 KiB. */
export async function readBounded(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function parseObject(bytes: Buffer): JsonObject {
  const value: unknown = JSON.parse(bytes.toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("not a JSON object");
  }
  // An object that is no array has string keys: JsonObject says no more.
  return value as JsonObject;
}

import { request } from "undici";
import type { JsonObject } from "../../cel/variables.ts";
import { fetchThrough } from "./fetch-through.ts";
import type { Upstream } from "./upstream.ts";

/** Milliseconds from the first byte sent to the last byte read. */
const deadline = 5_000;
const maxBytes = 512 * 1024;

/**
 * Fetches a JSON object that the configuration names by URL (a key set, a server's metadata): within 5 seconds, at most
 * 512 KiB, without following redirects, which could lead anywhere. `server` is the URL's server when it is reached in a
 * way of its own. Throws when it does not get one.
 */
export async function fetchJson(url: string, server?: Upstream): Promise<JsonObject> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error("timeout")), deadline);
  try {
    const bytes =
      server === undefined
        ? await fetchBytes(url, abort.signal)
        : await fetchThrough(server, url, { maxBytes, signal: abort.signal });
    return parseObject(bytes);
  } finally {
    clearTimeout(timer);
  }
}

async function fetchBytes(url: string, signal: AbortSignal): Promise<Buffer> {
  const headers = { accept: "application/json" };
  const response = await request(url, { headers, signal, reset: true });
  if (response.statusCode === 200) return readBounded(response.body);
  await response.body.dump();
  throw new Error(`status ${response.statusCode}`);
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

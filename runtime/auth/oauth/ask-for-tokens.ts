import type { JsonObject } from "../../cel/variables.ts";
import type { FetchRequest } from "../../http/upstream/fetch-request.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { SECOND } from "../../process/units.ts";

const limits = { maxBytes: 131_072, deadline: 5 * SECOND } as const;

/** A token endpoint does not give what it was asked for: it says so, and asking again would not help. */
export class TokensRefused extends Error {
  /** The word of RFC 6749 5.2: `invalid_grant`; undefined: none that can be shown. */
  readonly word: string | undefined;

  constructor(host: string, status: number, word: string | undefined) {
    super(`${host} refused: ${word ?? `status ${status}`}`);
    this.word = word;
  }
}

/**
 * The response of a token endpoint (RFC 6749 5.1). Throws TokensRefused for one that grants nothing, and an Error when there
 * is none that can be used; neither says what was sent, or what else was said.
 */
export async function askForTokens(request: FetchRequest): Promise<JsonObject> {
  const { host } = new URL(request.url);
  const { status, body } = await fetchResponse(request, limits);
  const document = readObject(body);
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
    throw new TokensRefused(host, status, errorWord(document?.error));
  }
  if (status !== 200) throw new Error(`${host} failed: status ${status}`);
  if (document === undefined) throw new Error(`the response of ${host} is no JSON object`);
  return document;
}

/** What a server calls a problem: a word, and nothing else that may stand there. */
export function errorWord(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z_]{1,40}$/.test(value) ? value : undefined;
}

function readObject(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // An object that is no array has string keys.
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

import type { JsonObject } from "../../cel/variables.ts";
import type { FetchRequest } from "../../http/upstream/fetch-request.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { SECOND } from "../../process/units.ts";

const LIMITS = { maxBytes: 131_072, deadline: 5 * SECOND } as const;

/** Error of a token endpoint that refuses the request, so that retrying would not help. */
export class TokensRefused extends Error {
  /** Error code of RFC 6749 5.2: `invalid_grant`; `undefined` if there is no valid code. */
  readonly word: string | undefined;

  constructor(host: string, status: number, word: string | undefined) {
    super(`${host} refused: ${word ?? `status ${status}`}`);
    this.word = word;
  }
}

/**
 * Returns the response of a token endpoint (RFC 6749 5.1). Throws TokensRefused for a refusal, and an Error for an unusable
 * response. Neither quotes the request or the response.
 */
export async function requestTokens(request: FetchRequest): Promise<JsonObject> {
  const { host } = new URL(request.url);
  const { status, body } = await fetchResponse(request, LIMITS);
  const document = readObject(body);
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
    throw new TokensRefused(host, status, errorWord(document?.error));
  }
  if (status !== 200) throw new Error(`${host} failed: status ${status}`);
  if (document === undefined) throw new Error(`the response of ${host} is not a JSON object`);
  return document;
}

/** Returns the error code of a server, if it is one. */
export function errorWord(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z_]{1,40}$/.test(value) ? value : undefined;
}

function readObject(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

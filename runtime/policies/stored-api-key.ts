import { allowedModels } from "../auth/allowed-models.ts";
import { credentialIn } from "../auth/credentials.ts";
import type { JsonObject } from "../cel/variables.ts";
import { keyDigest } from "../contents/api-key-entry.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { StoreError, unlessAway } from "../store/store.ts";
import type { StoredKey } from "../store/stored-key.ts";
import { StoredKeys } from "../store/stored-keys.ts";
import { type ApiKeys, consumeKey, type KnownKey, refuseApiKey } from "./api-key.ts";
import { refuseOverKeyLimits } from "./stored-api-key/key-limits.ts";

/** A key that is valid: a configured one, or one of the store. */
type FoundKey = KnownKey & { readonly stored?: StoredKey };

/**
 * Strict mode: returns the metadata of a valid key, configured or made at run time; resolves to `undefined` if the request was
 * refused: 401 for an unknown key, 503 if the store does not respond, 429 over a limit of the key.
 */
export async function requireStoredApiKey(
  exchange: Exchange,
  keys: ApiKeys,
): Promise<JsonObject | undefined> {
  const text = credentialIn(exchange, keys.location, "apiKey");
  if (text === undefined) return refuseApiKey(exchange, keys, "absent");
  try {
    const key = await find(exchange, keys, text);
    return key === undefined
      ? refuseApiKey(exchange, keys, "unknown")
      : await admit(exchange, keys, key);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // An unknown key must not look like a wrong one, which its holder would throw away.
    refuse(exchange, 503, "StoreAway", "API keys cannot be checked now", ["retry-after", "1"]);
    return undefined;
  }
}

/** Optional mode: like strict mode if the request has a key; otherwise resolves to null. */
export async function acceptStoredApiKey(
  exchange: Exchange,
  keys: ApiKeys,
): Promise<JsonObject | null | undefined> {
  return credentialIn(exchange, keys.location, "apiKey") === undefined
    ? null
    : requireStoredApiKey(exchange, keys);
}

/**
 * Permissive mode: resolves to the metadata of a valid key, otherwise to null, also if the store does not respond. Only a limit
 * of the key refuses (`undefined`).
 */
export async function observeStoredApiKey(
  exchange: Exchange,
  keys: ApiKeys,
): Promise<JsonObject | null | undefined> {
  const text = credentialIn(exchange, keys.location, "apiKey");
  if (text === undefined) return null;
  const key = await unlessAway(find(exchange, keys, text));
  return key === undefined ? null : admit(exchange, keys, key);
}

/** Finds a key. Configured ones come first and ask no store. */
async function find(
  { gateway }: Exchange,
  keys: ApiKeys,
  text: string,
): Promise<FoundKey | undefined> {
  const configured = keys.find(text);
  if (configured !== undefined || gateway.store === undefined) return configured;
  const digest = keyDigest(text);
  const stored = await StoredKeys.of(gateway.store, gateway.warn).find(digest);
  if (stored === undefined) return undefined;
  const { name, metadata, models } = stored;
  return {
    digest,
    metadata: { ...metadata, name },
    models: models && allowedModels(models),
    stored,
  };
}

async function admit(
  exchange: Exchange,
  keys: ApiKeys,
  key: FoundKey,
): Promise<JsonObject | undefined> {
  const { stored } = key;
  if (stored !== undefined && (await refuseOverKeyLimits(exchange, stored))) return undefined;
  return consumeKey(exchange, keys, key);
}

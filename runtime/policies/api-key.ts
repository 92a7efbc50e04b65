import { hash } from "node:crypto";
import type { JsonObject } from "../cel/variables.ts";
import { lateError } from "../gateway/startup-error.ts";
import { FollowedFile } from "../gateway/watched-file.ts";
import type { Exchange } from "../http/exchange.ts";
import { type CredentialPlace, credentialIn, takeCredential } from "../http/headers/credentials.ts";
import { refuse } from "../http/refuse.ts";

/** The keys of a route and where they stand in a request. */
export interface ApiKeySettings {
  readonly place: CredentialPlace;
  readonly keys: readonly ApiKeySource[];
}

/** A key's SHA-256 digest (hex) and its holder's metadata; a file's may change while the gateway runs. */
export type ApiKeySource = KnownKey | FollowedFile<KnownKey>;

interface KnownKey {
  readonly digest: string;
  readonly metadata: JsonObject;
}

/** A key that the environment gives. Throws StartupError when it is empty. */
export function givenKey(key: string, metadata: JsonObject): ApiKeySource {
  if (key === "") throw lateError("an API key is empty");
  return { digest: digestOf(key), metadata };
}

/** A key by its SHA-256 digest, hex. */
export function hashedKey(digest: string, metadata: JsonObject): ApiKeySource {
  return { digest, metadata };
}

/** A key in a file: its text, or `{"key": ..., "metadata": {...}}`. Throws StartupError. */
export function keyInFile(path: string, metadata: JsonObject): ApiKeySource {
  return new FollowedFile(path, (text) => readKey(text.trim(), metadata));
}

/** The keys of a route, ready to be looked up. */
export interface ApiKeys {
  readonly place: CredentialPlace;
  find(key: string): KnownKey | undefined;
}

/** Makes the table of keys. */
export function openApiKeys({ place, keys }: ApiKeySettings): ApiKeys {
  const known = new Map<string, KnownKey>();
  const files: FollowedFile<KnownKey>[] = [];
  for (const key of keys) {
    if (key instanceof FollowedFile) files.push(key);
    else known.set(key.digest, key);
  }
  return {
    place,
    // Only digests are compared: who guesses keys can't choose them, so how long it takes tells nothing of a key.
    find: (key) => {
      const digest = digestOf(key);
      let found = known.get(digest);
      for (const file of files) {
        const each = file.current();
        if (each.digest === digest) found = each;
      }
      return found;
    },
  };
}

/** Strict: the metadata of a valid key; undefined when the request was answered (401). */
export function requireApiKey(exchange: Exchange, keys: ApiKeys): JsonObject | undefined {
  const key = credentialIn(exchange, keys.place, "apiKey");
  if (key === undefined) {
    refuse(exchange, 401, "APIKeyAuth", "api key authentication failure: no API Key found");
    return undefined;
  }
  const known = keys.find(key);
  if (known === undefined) {
    refuse(exchange, 401, "APIKeyAuth", "api key authentication failure: invalid credentials");
    return undefined;
  }
  return consume(exchange, keys, known);
}

/** Optional: as strict for a request with a key; null for one without. */
export function acceptApiKey(exchange: Exchange, keys: ApiKeys): JsonObject | null | undefined {
  return credentialIn(exchange, keys.place, "apiKey") === undefined
    ? null
    : requireApiKey(exchange, keys);
}

/** Permissive: the metadata of a valid key, else null; nothing is refused. A key that is not valid goes upstream. */
export function observeApiKey(exchange: Exchange, keys: ApiKeys): JsonObject | null {
  const key = credentialIn(exchange, keys.place, "apiKey");
  const known = key === undefined ? undefined : keys.find(key);
  return known === undefined ? null : consume(exchange, keys, known);
}

/** Takes the key off the request, so that no upstream sees it. */
function consume(
  exchange: Exchange,
  { place }: ApiKeys,
  { digest, metadata }: KnownKey,
): JsonObject {
  takeCredential(exchange, place, "apiKey");
  const { caller } = exchange.record;
  exchange.record.caller = caller === undefined ? `key ${digest}` : `${caller}, key ${digest}`;
  return metadata;
}

function digestOf(key: string): string {
  return hash("sha256", key);
}

function readKey(text: string, metadata: JsonObject): KnownKey {
  if (text === "") throw new Error("it is empty");
  if (!text.startsWith("{")) return { digest: digestOf(text), metadata };
  const parsed = parseObject(text);
  const { key, metadata: own = {} } = parsed;
  if (typeof key !== "string" || key === "") throw new Error('it has no text "key"');
  if (typeof own !== "object" || own === null || Array.isArray(own)) {
    throw new Error('"metadata" is no object');
  }
  return { digest: digestOf(key), metadata: { ...metadata, ...own } };
}

function parseObject(text: string): JsonObject {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("it begins as JSON but is none");
  }
}

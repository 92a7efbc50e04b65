import { allowedModels } from "../auth/allowed-models.ts";
import { credentialIn, stripCredential } from "../auth/credentials.ts";
import { refuseCredential } from "../auth/refuse-credential.ts";
import type { JsonObject } from "../cel/variables.ts";
import { keyDigest, readApiKeyEntry } from "../contents/api-key-entry.ts";
import { noteCaller } from "../http/caller-identity.ts";
import { type CallerIdentity, type Exchange, logFields, type ModelTest } from "../http/exchange.ts";
import { type CredentialLocation, locationName } from "../http/headers/credential-location.ts";
import { warn } from "../process/operator-warnings.ts";
import { startupError } from "../process/startup-error.ts";
import { WatchedFile, WatchedFolder, WatchedPath } from "../process/watched-file.ts";

/** The keys of a route and their location in a request. */
export interface ApiKeySettings {
  readonly location: CredentialLocation;
  readonly keys: readonly ApiKeySource[];
}

/** A key's SHA-256 digest (hex) and its holder's metadata; those from files may change while the gateway runs. */
export type ApiKeySource = KnownKey | WatchedPath<KeyTable>;

/** Keys by their digests. */
type KeyTable = ReadonlyMap<string, KnownKey>;

/** A valid key. */
export interface KnownKey {
  readonly digest: string;
  readonly metadata: JsonObject;
  /** The models that its holder may use; `undefined` for any. */
  readonly models: ModelTest | undefined;
}

/** Returns a key from the environment. `models`: the models that its holder may use. Throws StartupError if it is empty. */
export function plaintextKey(
  key: string,
  metadata: JsonObject,
  models?: readonly string[],
): ApiKeySource {
  if (key === "") throw startupError("an API key is empty");
  return sha256Key(keyDigest(key), metadata, models);
}

/** Returns a key by its SHA-256 digest in hex. */
export function sha256Key(
  digest: string,
  metadata: JsonObject,
  models?: readonly string[],
): KnownKey {
  return { digest, metadata, models: models && allowedModels(models) };
}

/** Opens a file with a key, in one of the formats of an entry. Throws StartupError. */
export function keyFile(
  path: string,
  metadata: JsonObject,
  models?: readonly string[],
): ApiKeySource {
  return new WatchedFile(path, (text) => {
    const entry = readApiKeyEntry(text);
    const { digest, allowedModels = models } = entry;
    const key = sha256Key(digest, { ...metadata, ...entry.metadata }, allowedModels);
    return new Map([[digest, key]]);
  });
}

/** Opens the folder of a mounted Secret whose entries are keys. Unreadable entries admit nobody. */
export function keyFolder(path: string): ApiKeySource {
  return new WatchedFolder(path, (entries) => {
    const known = new Map<string, KnownKey>();
    const problems: string[] = [];
    for (const [name, text] of entries) {
      try {
        const { digest, metadata, allowedModels: models } = readApiKeyEntry(text);
        known.set(digest, sha256Key(digest, metadata, models));
      } catch (error) {
        problems.push(`"${name}" ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (problems.length > 0) warnOfEntries(path, problems);
    return known;
  });
}

/** Unreadable entries that are named in a warning. */
const NAMED = 3;

function warnOfEntries(path: string, problems: readonly string[]): void {
  const others = problems.length - NAMED;
  const named = problems.slice(0, NAMED).join(", ");
  const rest = others > 0 ? `, and ${others} others` : "";
  warn(`entries of ${path} are no API keys, and admit nobody: ${named}${rest}`);
}

/** The keys of a route, for lookups. */
export interface ApiKeys {
  readonly location: CredentialLocation;
  find(key: string): KnownKey | undefined;
}

/** Creates the table of keys. */
export function openApiKeys({ location, keys }: ApiKeySettings): ApiKeys {
  const known = new Map<string, KnownKey>();
  const files: WatchedPath<KeyTable>[] = [];
  for (const key of keys) {
    if (key instanceof WatchedPath) files.push(key);
    else known.set(key.digest, key);
  }
  return {
    location,
    // Only digests are compared. An attacker cannot choose them, so the time of a comparison reveals nothing about a key.
    find: (key) => {
      const digest = keyDigest(key);
      let found = known.get(digest);
      // Each file is looked at, so that the time does not depend on which one has the key.
      for (const file of files) found = file.usable()?.get(digest) ?? found;
      return found;
    },
  };
}

/** Strict mode: returns the metadata of a valid key, or `undefined` if the request was refused (401). */
export function requireApiKey(exchange: Exchange, keys: ApiKeys): JsonObject | undefined {
  const key = credentialIn(exchange, keys.location, "apiKey");
  if (key === undefined) return refuseApiKey(exchange, keys, "absent");
  const known = keys.find(key);
  return known === undefined
    ? refuseApiKey(exchange, keys, "unknown")
    : consumeKey(exchange, keys, known);
}

/** Optional mode: like strict mode if the request has a key; otherwise returns null. */
export function acceptApiKey(exchange: Exchange, keys: ApiKeys): JsonObject | null | undefined {
  return credentialIn(exchange, keys.location, "apiKey") === undefined
    ? null
    : requireApiKey(exchange, keys);
}

/**
 * Permissive mode: returns the metadata of a valid key, otherwise null; refuses nothing. An invalid key is forwarded
 * upstream.
 */
export function observeApiKey(exchange: Exchange, keys: ApiKeys): JsonObject | null {
  const key = credentialIn(exchange, keys.location, "apiKey");
  const known = key === undefined ? undefined : keys.find(key);
  return known === undefined ? null : consumeKey(exchange, keys, known);
}

/** Refuses a request without a valid key (401). */
export function refuseApiKey(
  exchange: Exchange,
  { location }: ApiKeys,
  problem: "absent" | "unknown",
): undefined {
  const [why, shown] =
    problem === "absent"
      ? [`no API key in ${locationName(location)}`, "no API Key found"]
      : ["an unknown API key", "invalid credentials"];
  logFields(exchange.record).set("error", why);
  refuseCredential(exchange, location, {
    reason: "APIKeyAuth",
    message: `api key authentication failure: ${shown}`,
  });
}

/** Removes a valid key from the request, so that it is not forwarded, and notes its holder. Returns the metadata. */
export function consumeKey(
  exchange: Exchange,
  { location }: ApiKeys,
  { digest, metadata, models }: KnownKey,
): JsonObject {
  stripCredential(exchange, location, "apiKey");
  if (models !== undefined) exchange.attributes.allowedModels = models;
  const { caller } = exchange.record;
  exchange.record.caller = caller === undefined ? `key ${digest}` : `${caller}, key ${digest}`;
  noteCaller(exchange.record, holderOf(digest, metadata));
  return metadata;
}

function holderOf(digest: string, { name }: JsonObject): CallerIdentity {
  return typeof name === "string" && name !== ""
    ? { kind: "key", name }
    : { kind: "key-digest", name: digest.slice(0, SHOWN_DIGITS) };
}

/** Digits of the digest of a key without a name. */
const SHOWN_DIGITS = 12;

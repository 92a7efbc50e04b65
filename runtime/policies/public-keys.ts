import type { JsonWebKey } from "node:crypto";
import { type KeyDetails, keySetOf, publicKeyOf } from "../contents/public-key-set.ts";
import type { Exchange } from "../http/exchange.ts";
import { startupError } from "../process/startup-error.ts";
import { WatchedFile } from "../process/watched-file.ts";

/** The current public keys, without private parts. */
export type PublicKeys = readonly (() => JsonWebKey)[];

/** Reads a key from its private key (PEM). Throws StartupError that does not contain it. */
export function publicKey(pem: string, details: KeyDetails): () => JsonWebKey {
  try {
    const key = publicKeyOf(pem, details);
    return () => key;
  } catch (error) {
    throw startupError(`a published key ${error instanceof Error ? error.message : error}`);
  }
}

/** Watches a file with a private key (PEM). Throws StartupError. */
export function publicKeyFile(path: string, details: KeyDetails): () => JsonWebKey {
  const followed = new WatchedFile(path, (text) => publicKeyOf(text, details));
  return () => followed.current();
}

/** Time for which servers may keep the key set, in seconds. */
const MAX_AGE = 300;

const HEADERS = [
  ...["content-type", "application/jwk-set+json"],
  ...["cache-control", `public, max-age=${MAX_AGE}`],
];

/** Answers with the key set; methods other than GET and HEAD are refused. */
export function respondWithKeys(exchange: Exchange, keys: PublicKeys): void {
  exchange.record.reason = "DirectResponse";
  const { method } = exchange.original;
  const isRead = method === "GET" || method === "HEAD";
  if (isRead) exchange.respond(200, HEADERS, keySetOf(keys.map((key) => key())));
  else exchange.respond(405, ["allow", "GET, HEAD"], "");
}

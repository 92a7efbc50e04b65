import { hash } from "node:crypto";
import type { JsonObject } from "../cel/variables.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import {
  derivedKeys,
  type SessionKeys,
  sealSession,
  unsealSession,
} from "../process/session-seal.ts";
import type { Space, Store } from "../store/store.ts";
import type { IssuedPair } from "../tls/issued-certificate.ts";

/** A certificate as stored. Times are in milliseconds since 1970. */
export interface StoredCertificate extends IssuedPair {
  /** When it is to be renewed. */
  readonly renewal: number;
  /** When the authority is next asked whether it is to be renewed earlier. */
  readonly inquiry: number;
}

/** The account at an ACME server. */
export interface StoredAccount {
  /** PEM. */
  readonly key: string;
  /** Empty before the account is registered. */
  readonly url: string;
  /** Contact that the server knows; empty if none. */
  readonly email: string;
}

/** Milliseconds after which the response to a challenge is deleted. */
const CHALLENGE_TIME = 3_600_000;
/** Milliseconds for which a count of failures is remembered. */
const FAILURES_TIME = 86_400_000;

/**
 * Accounts, certificates and responses to challenges in the store, for all threads and replicas. In a store that is not a file of
 * this machine they are encrypted with the session key.
 */
export class AcmeRecords {
  readonly #store: Store;
  readonly #keys: SessionKeys | undefined;

  constructor(store: Store, sessionKeys: SessionKeys) {
    this.#store = store;
    this.#keys = store.isLocal ? undefined : derivedKeys(sessionKeys, "gwc acme");
  }

  /** Returns the records of a gateway; `undefined` if it has no store. */
  static of({ store, sessionKeys }: GatewayContext): AcmeRecords | undefined {
    return store && new AcmeRecords(store, sessionKeys);
  }

  /** Calls the listener when a certificate may have changed; never if the store does not notice. */
  onCertificate(listener: () => void): () => void {
    return this.#store.onChange("acme-certificates", listener);
  }

  async certificate(id: string): Promise<StoredCertificate | undefined> {
    const found = await this.#read("acme-certificates", id);
    return found && storedCertificate(found);
  }

  /** Returns all certificates that can be read. */
  async certificates(): Promise<readonly StoredCertificate[]> {
    const all = await this.#store.list("acme-certificates");
    return Array.from(all, ([id, value]) => this.#opened(id, value)).flatMap((found) =>
      found === undefined ? [] : [storedCertificate(found)],
    );
  }

  writeCertificate(id: string, certificate: StoredCertificate): Promise<void> {
    return this.#write("acme-certificates", id, { ...certificate });
  }

  async account(id: string): Promise<StoredAccount | undefined> {
    const found = await this.#read("acme-accounts", id);
    if (found === undefined) return undefined;
    const { key, url, email } = found;
    return { key: String(key), url: String(url), email: String(email) };
  }

  writeAccount(id: string, account: StoredAccount): Promise<void> {
    return this.#write("acme-accounts", id, { ...account });
  }

  /** Stores a new account, unless another replica has stored one. Returns the stored one. */
  async addAccount(id: string, account: StoredAccount): Promise<StoredAccount> {
    const value = this.#sealed(id, { ...account });
    if (await this.#store.replace("acme-accounts", id, { was: undefined, value })) return account;
    return (await this.account(id)) ?? account;
  }

  /** Returns the response to a challenge; `undefined` if there is none. `id`: its kind, then its token or name. */
  async challengeResponse(id: string): Promise<JsonObject | undefined> {
    return this.#read("acme-challenges", digest(id));
  }

  /** Stores the response to a challenge. */
  async offerResponse(id: string, response: JsonObject): Promise<void> {
    await this.#write("acme-challenges", digest(id), response, Date.now() + CHALLENGE_TIME);
  }

  /** Deletes the response to a challenge. */
  async withdrawResponse(id: string): Promise<void> {
    const key = digest(id);
    const was = await this.#store.read("acme-challenges", key);
    if (was !== undefined)
      await this.#store.replace("acme-challenges", key, { was, value: undefined });
  }

  /**
   * Takes the right to order a certificate, for some milliseconds; a lease that has it already keeps it. Returns whether it has
   * it: false if another thread or replica does, or if orders are paused after a failure.
   */
  async begin(id: string, lease: string, time: number): Promise<boolean> {
    const change = { value: lease, expires: Date.now() + time };
    for (const was of [undefined, lease])
      if (await this.#store.replace("acme-orders", id, { was, ...change })) return true;
    return false;
  }

  /** Gives the right back. With `until`, nobody has it before then. */
  async finish(id: string, lease: string, until?: number): Promise<void> {
    const value = until === undefined ? undefined : "paused";
    await this.#store.replace("acme-orders", id, { was: lease, value, expires: until });
  }

  /** Returns how often in a row an order has failed, this time included. */
  async countFailure(id: string): Promise<number> {
    const key = `${id}:failures`;
    const was = await this.#store.read("acme-orders", key);
    const count = Number(was ?? 0) + 1;
    const change = { was, value: String(count), expires: Date.now() + FAILURES_TIME };
    await this.#store.replace("acme-orders", key, change);
    return count;
  }

  async forgetFailures(id: string): Promise<void> {
    const key = `${id}:failures`;
    const was = await this.#store.read("acme-orders", key);
    if (was !== undefined) await this.#store.replace("acme-orders", key, { was, value: undefined });
  }

  /** Reads a record; `undefined` if it is absent or was encrypted with another key. */
  async #read(space: Space, id: string): Promise<JsonObject | undefined> {
    const value = await this.#store.read(space, id);
    return value === undefined ? undefined : this.#opened(id, value);
  }

  #opened(id: string, value: string): JsonObject | undefined {
    const text = this.#keys === undefined ? value : unsealSession(this.#keys, id, value);
    return text === undefined ? undefined : JSON.parse(text);
  }

  async #write(space: Space, id: string, record: JsonObject, expires?: number): Promise<void> {
    const value = this.#sealed(id, record);
    for (;;) {
      const was = await this.#store.read(space, id);
      if (was === value || (await this.#store.replace(space, id, { was, value, expires }))) return;
    }
  }

  #sealed(id: string, record: JsonObject): string {
    const text = JSON.stringify(record);
    return this.#keys === undefined ? text : sealSession(this.#keys, id, text);
  }
}

function storedCertificate({ cert, key, renewal, inquiry }: JsonObject): StoredCertificate {
  return {
    cert: String(cert),
    key: String(key),
    renewal: Number(renewal),
    inquiry: Number(inquiry),
  };
}

/** Returns an id without characters that a store gives a meaning. */
export function digest(...parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "base64url");
}

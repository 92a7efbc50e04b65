import { hash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { MINUTE, SECOND } from "../../process/units.ts";
import { Instances } from "../../store/instances.ts";
import type { Store } from "../../store/store.ts";
import { WatchedRecords } from "../../store/watched-records.ts";
import type { ProviderLogout } from "./back-channel.ts";
import type { KnownSession } from "./session.ts";

/** Time in milliseconds for which replicas with the earlier session get the renewed one. */
const RENEWED_TIME = MINUTE;
/** Maximum time in milliseconds that a replica waits for another one that renews, which may have ended. */
const MAX_WAIT = 15 * SECOND;
/** Milliseconds between questions whether another replica has renewed. */
const POLL_INTERVAL = 100;
/**
 * Milliseconds for which logouts at the provider are remembered. A session without a renewal ends with its ID token, and none is
 * renewed after the logout.
 */
const PROVIDER_LOGOUT_TIME = 30 * 24 * 60 * MINUTE;
/** Beginning of the value of a renewal in flight; sealed sessions have no ":". */
const IN_FLIGHT = "lease:";

const instances = new Instances<Store, SharedLogins>();

/** Logins as all replicas know them. Methods reject with a StoreError if the store does not respond. */
export class SharedLogins {
  readonly #store: Store;
  readonly #ended: WatchedRecords<string | undefined>;

  private constructor(store: Store) {
    this.#store = store;
    this.#ended = new WatchedRecords(store, {
      space: "ended-logins",
      read: (_, text) => text,
      // Ids are in sealed cookies, so nobody can make them up.
      isCached: () => true,
    });
  }

  /** Returns the instance for a store. */
  static of(store: Store): SharedLogins {
    return instances.of(store, () => new SharedLogins(store));
  }

  /** Whether a replica has ended a session. */
  async isEnded(id: string): Promise<boolean> {
    return (await this.#ended.find(id)) !== undefined;
  }

  /** Whether the provider has ended the login of a client's session. */
  async isEndedByProvider(
    client: string,
    { session: { begun = 0 }, claims: { iss, sub, sid } }: KnownSession,
  ): Promise<boolean> {
    const [login, user] = await Promise.all([
      typeof sid === "string" ? this.#ended.find(idOf(client, "sid", iss, sid)) : undefined,
      this.#ended.find(idOf(client, "sub", iss, sub)),
    ]);
    return login !== undefined || (user !== undefined && begun <= Number(user));
  }

  /** Ends the logins that the provider names: one, or all that a user has begun before. */
  async endByProvider(
    client: string,
    { issuer, subject, sid, time }: ProviderLogout,
  ): Promise<void> {
    const expires = Date.now() + PROVIDER_LOGOUT_TIME;
    if (sid !== undefined) {
      await this.end(idOf(client, "sid", issuer, sid), expires);
      return;
    }
    const id = idOf(client, "sub", issuer, subject);
    for (;;) {
      const was = await this.#store.read("ended-logins", id);
      if (was !== undefined && Number(was) >= time) return;
      const change = { was, value: String(time), expires };
      if (await this.#store.replace("ended-logins", id, change)) return;
    }
  }

  /** Ends a session, until `expires` in milliseconds since 1970. */
  async end(id: string, expires: number): Promise<void> {
    await this.#store.replace("ended-logins", id, { was: undefined, value: "1", expires });
  }

  /** Uses the state of a login, until `expires` in milliseconds since 1970. Returns false if it was used before, at any replica. */
  use(state: string, expires: number): Promise<boolean> {
    const change = { was: undefined, value: "1", expires };
    return this.#store.replace("used-logins", digestOf(state), change);
  }

  /**
   * Renews with a refresh token at one replica. `renew` returns the sealed session, or `undefined` if it cannot be renewed now; the
   * other replicas get the same result.
   */
  async renewed(
    refreshToken: string,
    renew: () => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const id = digestOf(refreshToken);
    const lease = `${IN_FLIGHT}${randomUUID()}`;
    const begun = { was: undefined, value: lease, expires: Date.now() + MAX_WAIT };
    if (!(await this.#store.replace("login-renewals", id, begun))) return this.#awaited(id);
    let sealed: string | undefined;
    try {
      sealed = await renew();
      return sealed;
    } finally {
      const expires = Date.now() + RENEWED_TIME;
      const ended = { was: lease, value: sealed, ...(sealed !== undefined && { expires }) };
      // The provider has responded: its tokens must not be lost because the store does not respond.
      await this.#store.replace("login-renewals", id, ended).catch(() => false);
    }
  }

  /** Waits for the result of another replica. */
  async #awaited(id: string): Promise<string | undefined> {
    const deadline = performance.now() + MAX_WAIT;
    while (performance.now() < deadline) {
      const value = await this.#store.read("login-renewals", id);
      if (value === undefined) return undefined;
      if (!value.startsWith(IN_FLIGHT)) return value;
      await pause(POLL_INTERVAL);
    }
    return undefined;
  }
}

/** Returns the id of the record about a logout at the provider. */
function idOf(client: string, ...parts: readonly unknown[]): string {
  return digestOf(JSON.stringify([client, ...parts]));
}

function digestOf(text: string): string {
  return hash("sha256", text, "base64url");
}

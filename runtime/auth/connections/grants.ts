import { hash, randomUUID } from "node:crypto";
import type { JwtVariable } from "../../cel/variables.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import {
  derivedKeys,
  type SessionKeys,
  sealSession,
  unsealSession,
} from "../../process/session-seal.ts";
import type { Space, Store } from "../../store/store.ts";
import type { ClientMethod } from "../oauth/client-authentication.ts";

/** Tokens that a user has granted to the gateway at a server. Times are in milliseconds since 1970. */
export interface Grant {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** When the access token expires; absent if the server did not say. */
  readonly end?: number;
  /** From when it is renewed; absent if it cannot be, or need not be. */
  readonly renewal?: number;
  /** Resource of the token (RFC 8707). */
  readonly resource: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string;
  readonly client: GrantClient;
}

/** A grant as it was read. */
export interface StoredGrant {
  readonly grant: Grant;
  /** Value in the store, which a change replaces only if it is still there. */
  readonly sealed: string;
}

/** A change of a grant, for the audit log. `ended`: the authorization server, or the resource, no longer accepts it. */
export type GrantEvent = "granted" | "renewed" | "ended" | "revoked";

/** The gateway, as the authorization server knows it. */
export interface GrantClient {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  readonly method: ClientMethod | "none";
}

/** Returns the user of a request, who has proved this identity; `undefined` if the token does not name one. */
export function userOf(claims: JwtVariable | undefined, claim: string): string | undefined {
  const { iss, [claim]: subject } = claims ?? {};
  if (typeof iss !== "string" || typeof subject !== "string" || subject === "") return undefined;
  return JSON.stringify([iss, subject]);
}

/**
 * The grants of users, encrypted. A record is bound to its owner, user and connection: one that was moved cannot be read.
 * The owner is the namespace of manifests, so that tenants of a gateway have neither the tokens nor the clients of others.
 */
export class Grants {
  readonly #store: Store;
  readonly #keys: SessionKeys;
  readonly #owner: string | undefined;
  readonly #audit: GatewayContext["auditGrant"];

  private constructor(
    store: Store,
    { sessionKeys, auditGrant }: GatewayContext,
    owner: string | undefined,
  ) {
    this.#store = store;
    this.#keys = derivedKeys(sessionKeys, "gwc user connections");
    this.#owner = owner;
    this.#audit = auditGrant;
  }

  /** Returns the grants of an owner in the store of a gateway; `undefined` if it has no store. */
  static of(gateway: GatewayContext, owner: string | undefined): Grants | undefined {
    return gateway.store && new Grants(gateway.store, gateway, owner);
  }

  /** Returns a user's grant; `undefined` if there is none, or if it was encrypted with another key. */
  async read(user: string, connection: string): Promise<StoredGrant | undefined> {
    const id = this.#idOf(user, connection);
    const sealed = await this.#store.read("user-grants", id);
    const text = sealed && unsealSession(this.#keys, id, sealed);
    if (sealed === undefined || text === undefined || text === "") return undefined;
    // The sealed content was written by `write` or `replace`.
    return { grant: JSON.parse(text) as Grant, sealed };
  }

  /** Stores a user's new grant, whatever was there. */
  async write(user: string, connection: string, grant: Grant): Promise<void> {
    const id = this.#idOf(user, connection);
    await this.#put("user-grants", id, sealSession(this.#keys, id, JSON.stringify(grant)));
  }

  /** Replaces a grant as it was read; `undefined` removes it. Returns false, and changes nothing, if it has changed since. */
  replace(
    user: string,
    connection: string,
    { sealed: was }: StoredGrant,
    grant: Grant | undefined,
  ): Promise<boolean> {
    const id = this.#idOf(user, connection);
    const value = grant && sealSession(this.#keys, id, JSON.stringify(grant));
    return this.#store.replace("user-grants", id, { was, value });
  }

  /** Writes a line of the audit log about a change that no request to the page made. */
  note(user: string, connection: string, event: GrantEvent): void {
    this.#audit({ identity: subjectOf(user), connection, event });
  }

  /**
   * Uses the state of an authorization, until `expires` in milliseconds since 1970. Returns false if it was used before, at any
   * thread or replica.
   */
  useState(state: string, expires: number): Promise<boolean> {
    const change = { was: undefined, value: "1", expires };
    return this.#store.replace("used-authorizations", this.#digest("state", state), change);
  }

  /** Returns the client that was registered under a name; `undefined` if there is none. */
  async client(name: string): Promise<GrantClient | undefined> {
    const id = this.#digest("client", name);
    const sealed = await this.#store.read("oauth-clients", id);
    const text = sealed && unsealSession(this.#keys, id, sealed);
    // The sealed content was written by `keepClient`.
    return text ? (JSON.parse(text) as GrantClient) : undefined;
  }

  /** Stores a registered client, until `expires` in milliseconds since 1970. */
  async keepClient(name: string, client: GrantClient, expires: number | undefined): Promise<void> {
    const id = this.#digest("client", name);
    await this.#put(
      "oauth-clients",
      id,
      sealSession(this.#keys, id, JSON.stringify(client)),
      expires,
    );
  }

  /**
   * Takes the right to renew a grant, for some milliseconds. Returns the lease; `undefined` if another thread or replica has the
   * right.
   */
  async begin(user: string, connection: string, time: number): Promise<string | undefined> {
    const lease = randomUUID();
    const change = { was: undefined, value: lease, expires: Date.now() + time };
    const id = this.#idOf(user, connection);
    return (await this.#store.replace("grant-renewals", id, change)) ? lease : undefined;
  }

  /** Gives the right back, unless the lease has expired. */
  async finish(user: string, connection: string, lease: string): Promise<void> {
    const id = this.#idOf(user, connection);
    await this.#store.replace("grant-renewals", id, { was: lease, value: undefined });
  }

  #idOf(user: string, connection: string): string {
    return this.#digest(user, connection);
  }

  /** Returns an id that only this owner has. */
  #digest(...parts: readonly string[]): string {
    return hash("sha256", JSON.stringify([this.#owner ?? null, ...parts]), "base64url");
  }

  async #put(space: Space, id: string, value: string, expires?: number): Promise<void> {
    for (;;) {
      const was = await this.#store.read(space, id);
      if (was === value || (await this.#store.replace(space, id, { was, value, expires }))) return;
    }
  }
}

/** Returns the subject of a user: the name that the user's token has. */
function subjectOf(user: string): string {
  const [, subject] = JSON.parse(user) as readonly string[];
  return subject ?? "";
}

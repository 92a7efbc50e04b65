import { createHash, hkdfSync } from "node:crypto";
import type { JwtVariable } from "../../cel/variables.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";
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

/** The grants of users, encrypted. A record is bound to its user and connection: one that was moved cannot be read. */
export class Grants {
  readonly #store: Store;
  readonly #key: Buffer;

  private constructor(store: Store, key: Buffer) {
    this.#store = store;
    this.#key = key;
  }

  /** Returns the grants in the store of a gateway; `undefined` if it has no store. */
  static of({ store, sessionKey }: GatewayContext): Grants | undefined {
    const key = Buffer.from(hkdfSync("sha256", sessionKey, "", "gwc user connections", 32));
    return store && new Grants(store, key);
  }

  /** Returns a user's grant; `undefined` if there is none, or if it was encrypted with another key. */
  async read(user: string, connection: string): Promise<Grant | undefined> {
    const id = idOf(user, connection);
    const sealed = await this.#store.read("user-grants", id);
    const text = sealed && unsealSession(this.#key, id, sealed);
    // The sealed content was written by `write`.
    return text ? (JSON.parse(text) as Grant) : undefined;
  }

  /** Replaces a user's grant; `undefined` removes it. */
  async write(user: string, connection: string, grant: Grant | undefined): Promise<void> {
    const id = idOf(user, connection);
    await this.#put("user-grants", id, grant && sealSession(this.#key, id, JSON.stringify(grant)));
  }

  /** Returns the client that was registered under a name; `undefined` if there is none. */
  async client(name: string): Promise<GrantClient | undefined> {
    const id = digest(name);
    const sealed = await this.#store.read("oauth-clients", id);
    const text = sealed && unsealSession(this.#key, id, sealed);
    // The sealed content was written by `keepClient`.
    return text ? (JSON.parse(text) as GrantClient) : undefined;
  }

  /** Stores a registered client, until `expires` in milliseconds since 1970. */
  async keepClient(name: string, client: GrantClient, expires: number | undefined): Promise<void> {
    const id = digest(name);
    await this.#put(
      "oauth-clients",
      id,
      sealSession(this.#key, id, JSON.stringify(client)),
      expires,
    );
  }

  /** Takes the right to renew a grant, for some milliseconds. Returns false if another thread or replica has it. */
  begin(user: string, connection: string, time: number): Promise<boolean> {
    const change = { was: undefined, value: "1", expires: Date.now() + time };
    return this.#store.replace("grant-renewals", idOf(user, connection), change);
  }

  /** Gives the right back. */
  async finish(user: string, connection: string): Promise<void> {
    await this.#put("grant-renewals", idOf(user, connection), undefined);
  }

  async #put(space: Space, id: string, value: string | undefined, expires?: number): Promise<void> {
    for (;;) {
      const was = await this.#store.read(space, id);
      if (was === value || (await this.#store.replace(space, id, { was, value, expires }))) return;
    }
  }
}

function idOf(user: string, connection: string): string {
  return digest(JSON.stringify([user, connection]));
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

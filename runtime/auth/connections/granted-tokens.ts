import type { JsonObject } from "../../cel/variables.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { MINUTE, SECOND } from "../../process/units.ts";
import { tokenRequest } from "../oauth/client-authentication.ts";
import { TokensRefused } from "../oauth/request-tokens.ts";
import { requestAs } from "./connection-client.ts";
import type { Grant, Grants, StoredGrant } from "./grants.ts";

/** Milliseconds for which a thread may renew a grant before another one may: more than the request for the tokens can take. */
const RENEWAL_TIME = 8 * SECOND;
/** Milliseconds that a request waits for a renewal by another thread or replica, which may have died. */
const PATIENCE = RENEWAL_TIME + 2 * SECOND;
/** Milliseconds between two looks at a grant that another thread renews. */
const PAUSE = 50;

/** Returns a grant with the tokens of a response. Throws an Error if it has no usable token. */
export function grantOf(response: JsonObject, before: Omit<Grant, "accessToken">): Grant {
  const { access_token: token, token_type: type, refresh_token: refresh } = response;
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
    throw new Error("the response has no token");
  if (typeof type === "string" && type.toLowerCase() !== "bearer")
    throw new Error("the token is not a bearer token");
  const { end: _, renewal: __, refreshToken: old, ...rest } = before;
  const refreshToken = typeof refresh === "string" ? refresh : old;
  const seconds = Number(response.expires_in);
  const lifetime = seconds > 0 ? seconds * SECOND : undefined;
  const now = Date.now();
  return {
    ...rest,
    accessToken: token,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(lifetime !== undefined && { end: now + lifetime }),
    ...(lifetime !== undefined &&
      refreshToken !== undefined && { renewal: now + lifetime - Math.min(MINUTE, lifetime / 4) }),
  };
}

/** Token of a user for a connection: `absent` if the user has to connect, `unavailable` if the server fails. */
export type UserToken =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "absent" }
  | { readonly kind: "unavailable"; readonly detail: string };

/** A user's grant at a connection. */
interface GrantPlace {
  readonly grants: Grants;
  readonly user: string;
  readonly connection: string;
}

/** Returns a user's token, renewed if that is due. `refused`: a token that the server no longer accepts. Never rejects. */
export async function userToken(
  grants: Grants,
  user: string,
  connection: string,
  refused?: string,
): Promise<UserToken> {
  const place: GrantPlace = { grants, user, connection };
  try {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const found = await grants.read(user, connection);
      if (found === undefined) return { kind: "absent" };
      const { grant } = found;
      const now = Date.now();
      const isRefused = grant.accessToken === refused;
      const isValid = !isRefused && (grant.end === undefined || now < grant.end);
      const isDue = isRefused || (grant.renewal !== undefined && now >= grant.renewal);
      if (isValid && (!isDue || grant.refreshToken === undefined)) return tokenIn(found);
      if (grant.refreshToken === undefined) {
        if (await ended(place, found)) return { kind: "absent" };
        continue;
      }
      const lease = await grants.begin(user, connection, RENEWAL_TIME);
      if (lease !== undefined) {
        const token = await renewedOnce(place, found, isValid, lease);
        if (token === "changed") continue;
        return token;
      }
      // Another thread or replica renews it.
      if (isValid) return tokenIn(found);
      if (now >= end) return { kind: "unavailable", detail: "the token could not be renewed" };
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  } catch (error) {
    return { kind: "unavailable", detail: reason(error) };
  }
}

/**
 * Renews a grant with the right to do so. Returns `changed` if another thread or replica has renewed it since it was read: the
 * same refresh token must not be sent twice, because servers take that for theft and end the grant (RFC 9700 4.14.2).
 */
async function renewedOnce(
  place: GrantPlace,
  found: StoredGrant,
  isValid: boolean,
  lease: string,
): Promise<UserToken | "changed"> {
  const { grants, user, connection } = place;
  try {
    const current = await grants.read(user, connection);
    if (current?.sealed !== found.sealed) return "changed";
    return await renewed(place, found, isValid);
  } finally {
    await grants.finish(user, connection, lease);
  }
}

async function renewed(
  place: GrantPlace,
  found: StoredGrant,
  isValid: boolean,
): Promise<UserToken> {
  const { grant } = found;
  let next: Grant;
  try {
    const response = await requestAs(grant.client, grant.tokenEndpoint, [
      ["grant_type", "refresh_token"],
      ["refresh_token", grant.refreshToken ?? ""],
      ["resource", grant.resource],
    ]);
    next = grantOf(response, grant);
  } catch (error) {
    if (error instanceof TokensRefused && ENDS.has(error.word ?? "")) {
      const { grants, user, connection } = place;
      if (await ended(place, found)) return { kind: "absent" };
      return tokenIn(await grants.read(user, connection));
    }
    return isValid ? tokenIn(found) : { kind: "unavailable", detail: reason(error) };
  }
  return renewedTo(place, found, next);
}

/** Stores a renewed grant, unless the user has disconnected or connected again meanwhile. */
async function renewedTo(
  { grants, user, connection }: GrantPlace,
  found: StoredGrant,
  next: Grant,
): Promise<UserToken> {
  if (await grants.replace(user, connection, found, next)) {
    grants.note(user, connection, "renewed");
    return { kind: "token", token: next.accessToken };
  }
  const current = await grants.read(user, connection);
  if (current === undefined) await revoke(next);
  return tokenIn(current);
}

/** Refusals after which only the user can grant again (RFC 6749 5.2). */
const ENDS: ReadonlySet<string> = new Set([
  ...["invalid_grant", "invalid_client", "unauthorized_client"],
]);

/** Removes a grant that is no longer accepted. Returns false if it has changed. */
async function ended(
  { grants, user, connection }: GrantPlace,
  found: StoredGrant,
): Promise<boolean> {
  const isRemoved = await grants.replace(user, connection, found, undefined);
  if (isRemoved) grants.note(user, connection, "ended");
  return isRemoved;
}

function tokenIn(found: StoredGrant | undefined): UserToken {
  return found === undefined
    ? { kind: "absent" }
    : { kind: "token", token: found.grant.accessToken };
}

/** The end of a grant. */
export interface EndedGrant {
  /** Why the authorization server did not revoke its tokens; `undefined` if it did, or cannot. */
  readonly problem: string | undefined;
}

/** Removes a user's grant, and revokes its tokens if the server can (RFC 7009). Returns `undefined` if there was none. */
export async function endGrant(
  grants: Grants,
  user: string,
  connection: string,
): Promise<EndedGrant | undefined> {
  for (;;) {
    const found = await grants.read(user, connection);
    if (found === undefined) return undefined;
    if (await grants.replace(user, connection, found, undefined))
      return { problem: await revoke(found.grant) };
  }
}

/** Revokes the tokens of a grant. Returns what failed. Never rejects. */
async function revoke({
  revocationEndpoint: url,
  client,
  refreshToken,
  accessToken,
}: Grant): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const { clientId, clientSecret, method } = client;
  const tokens: readonly Form[] = [
    ...(refreshToken === undefined ? [] : [formOf(refreshToken, "refresh_token")]),
    // Not every server revokes the access token with the refresh token.
    formOf(accessToken, "access_token"),
  ];
  for (const form of tokens) {
    const request =
      method === "none" || clientSecret === undefined
        ? tokenRequest(url, [...form, ["client_id", clientId]], undefined)
        : tokenRequest(url, form, { clientId, clientSecret, method });
    try {
      const { status } = await fetchResponse(request, { maxBytes: 65_536, deadline: 5 * SECOND });
      if (status !== 200) return `the tokens were not revoked: status ${status}`;
    } catch (error) {
      return `the tokens were not revoked: ${reason(error)}`;
    }
  }
  return undefined;
}

type Form = readonly (readonly [name: string, value: string])[];

function formOf(token: string, hint: string): Form {
  return [
    ["token", token],
    ["token_type_hint", hint],
  ];
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

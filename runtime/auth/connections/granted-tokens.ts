import type { JsonObject } from "../../cel/variables.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { MINUTE, SECOND } from "../../process/units.ts";
import { tokenRequest } from "../oauth/client-authentication.ts";
import { TokensRefused } from "../oauth/request-tokens.ts";
import { requestAs } from "./connection-client.ts";
import type { Grant, Grants } from "./grants.ts";

/** Milliseconds for which a thread may renew a grant before another one may. */
const RENEWAL_TIME = 15 * SECOND;
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

/** Returns a user's token, renewed if that is due. `refused`: a token that the server no longer accepts. Never rejects. */
export async function userToken(
  grants: Grants,
  user: string,
  connection: string,
  refused?: string,
): Promise<UserToken> {
  try {
    const end = Date.now() + RENEWAL_TIME;
    for (;;) {
      const grant = await grants.read(user, connection);
      if (grant === undefined) return { kind: "absent" };
      const now = Date.now();
      const isRefused = grant.accessToken === refused;
      const isValid = !isRefused && (grant.end === undefined || now < grant.end);
      const isDue = isRefused || (grant.renewal !== undefined && now >= grant.renewal);
      if (isValid && !isDue) return { kind: "token", token: grant.accessToken };
      if (grant.refreshToken === undefined) {
        if (isValid) return { kind: "token", token: grant.accessToken };
        await grants.write(user, connection, undefined);
        return { kind: "absent" };
      }
      if (await grants.begin(user, connection, RENEWAL_TIME)) {
        return await renewed(grants, user, connection, grant, isValid);
      }
      // Another thread or replica renews it.
      if (isValid) return { kind: "token", token: grant.accessToken };
      if (now >= end) return { kind: "unavailable", detail: "the token could not be renewed" };
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  } catch (error) {
    return { kind: "unavailable", detail: reason(error) };
  }
}

async function renewed(
  grants: Grants,
  user: string,
  connection: string,
  grant: Grant,
  isValid: boolean,
): Promise<UserToken> {
  try {
    const response = await requestAs(grant.client, grant.tokenEndpoint, [
      ["grant_type", "refresh_token"],
      ["refresh_token", grant.refreshToken ?? ""],
      ["resource", grant.resource],
    ]);
    const next = grantOf(response, grant);
    // A user who has disconnected meanwhile stays disconnected.
    const current = await grants.read(user, connection);
    if (current?.refreshToken !== grant.refreshToken) return tokenIn(current);
    await grants.write(user, connection, next);
    return { kind: "token", token: next.accessToken };
  } catch (error) {
    if (error instanceof TokensRefused && ENDS.has(error.word ?? "")) {
      await grants.write(user, connection, undefined);
      return { kind: "absent" };
    }
    return isValid
      ? { kind: "token", token: grant.accessToken }
      : { kind: "unavailable", detail: reason(error) };
  } finally {
    await grants.finish(user, connection);
  }
}

/** Refusals after which only the user can grant again (RFC 6749 5.2). */
const ENDS: ReadonlySet<string> = new Set([
  ...["invalid_grant", "invalid_client", "unauthorized_client"],
]);

function tokenIn(grant: Grant | undefined): UserToken {
  return grant === undefined ? { kind: "absent" } : { kind: "token", token: grant.accessToken };
}

/** Removes a user's grant, and revokes its tokens if the server can (RFC 7009). Returns false if there was none. */
export async function endGrant(grants: Grants, user: string, connection: string): Promise<boolean> {
  const grant = await grants.read(user, connection);
  if (grant === undefined) return false;
  await grants.write(user, connection, undefined);
  const { revocationEndpoint: url, client, refreshToken, accessToken } = grant;
  if (url === undefined) return true;
  const { clientId, clientSecret, method } = client;
  const form: [string, string][] = [["token", refreshToken ?? accessToken]];
  const request =
    method === "none" || clientSecret === undefined
      ? tokenRequest(url, [...form, ["client_id", clientId]], undefined)
      : tokenRequest(url, form, { clientId, clientSecret, method });
  await fetchResponse(request, { maxBytes: 65_536, deadline: 5 * SECOND }).catch(() => undefined);
  return true;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

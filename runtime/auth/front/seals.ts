import { createHash } from "node:crypto";
import type { GatewayContext } from "../../process/gateway-context.ts";
import {
  derivedKeys,
  type SessionKeys,
  sealSession,
  unsealSession,
} from "../../process/session-seal.ts";
import type { ClientDescription } from "./client-bounds.ts";
import type { FrontSettings } from "./front-settings.ts";

/** A client's authorization, from its request to its code. */
export interface Authorization {
  /** Digest of the client's id. */
  readonly client: string;
  /** `undefined` if the client has no name. */
  readonly name?: string | undefined;
  readonly redirectUri: string;
  /** `undefined` if the client sent none. */
  readonly state?: string | undefined;
  /** Digest of the client's verifier (RFC 7636, S256). */
  readonly challenge: string;
  readonly scopes: readonly string[];
  readonly resource?: string | undefined;
}

/** Values that the gateway issues and takes back, by purpose. Nothing of them is stored. `end`: milliseconds since 1970. */
export interface Sealed {
  /** Id of a registered client. */
  readonly client: ClientDescription & Expiring;
  /** Question to a person, bound to the browser. */
  readonly question: Authorization & Expiring & { readonly browser: string };
  /** Allowed authorization whose person is at the provider. */
  readonly login: Authorization & Expiring & OwnLeg;
  /** Authorization code of a client, with the provider's. */
  readonly code: Omit<Authorization, "state"> &
    Expiring & { readonly code: string; readonly verifier: string };
  /** Refresh token of a client, with the provider's. */
  readonly refresh: { readonly client: string; readonly token: string };
}

interface Expiring {
  readonly end: number;
}

/** The gateway's own authorization at the provider. */
interface OwnLeg {
  readonly ownState: string;
  readonly verifier: string;
}

type KeyHolder = Pick<GatewayContext, "sessionKeys">;
type FrontIdentity = Pick<FrontSettings, "url" | "issuer" | "client">;

/** Seals a value for a purpose. It is valid at this authorization server and for its provider only. */
export function seal<Purpose extends keyof Sealed>(
  gateway: KeyHolder,
  settings: FrontIdentity,
  purpose: Purpose,
  value: Sealed[Purpose],
): string {
  return sealSession(keysOf(gateway), binding(settings, purpose), JSON.stringify(value));
}

/** Returns a sealed value; `undefined` if it was not sealed here for this purpose, or has expired. */
export function unseal<Purpose extends keyof Sealed>(
  gateway: KeyHolder,
  settings: FrontIdentity,
  purpose: Purpose,
  sealed: string,
): Sealed[Purpose] | undefined {
  const text = unsealSession(keysOf(gateway), binding(settings, purpose), sealed);
  if (text === undefined) return undefined;
  // The sealed content was written by `seal`.
  const value = JSON.parse(text) as Sealed[Purpose];
  return "end" in value && value.end <= Date.now() ? undefined : value;
}

/** Returns the digest of a string in base64url. */
export function sealDigest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function keysOf({ sessionKeys }: KeyHolder): SessionKeys {
  return derivedKeys(sessionKeys, "gwc authorization server");
}

function binding({ url, issuer, client }: FrontIdentity, purpose: keyof Sealed): string {
  return JSON.stringify([purpose, url, issuer, client.clientId]);
}

import { withoutHeaders } from "../http/headers/header-list.ts";
import { isJsonObject } from "../json/json-object.ts";

/** Returns the value of a header of a request by its name in lower case. */
type HeaderOf = (name: string) => string | undefined;

/** Headers in which clients of any API send keys, and so may send the token of a subscription. */
const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"] as const;

/** Header in which ChatGPT's clients name the account of their token. */
export const ACCOUNT_HEADER = "chatgpt-account-id";

/** The token of a subscription in a request. */
export interface SubscriptionToken {
  /** Systems that accept it, because a vendor issued it for its own APIs: no other provider may get it. */
  readonly systems: readonly string[];
  /** Header of the client with the token. */
  readonly header: (typeof KEY_HEADERS)[number];
}

/** Returns the token of a subscription that a request has in any of its headers for keys; `undefined` if it has none. */
export function subscriptionToken(headerOf: HeaderOf): SubscriptionToken | undefined {
  const hasAccount = headerOf(ACCOUNT_HEADER) !== undefined;
  for (const header of KEY_HEADERS) {
    const value = headerOf(header);
    if (value === undefined) continue;
    const systems = systemsIn(value) ?? (hasAccount ? OPENAI : undefined);
    if (systems !== undefined) return { systems, header };
  }
  return undefined;
}

/** Whether a request with these lines of headers may have the token of a subscription. */
export function mayHaveSubscription(lines: string): boolean {
  return SIGNS.test(lines);
}

/** Whether a system may get a key that a client sent in another place than its headers. */
export function acceptsKey(system: string, key: string): boolean {
  return systemsOf(key)?.includes(system) !== false;
}

/** Returns the headers of a request for a server that must not get the token of a subscription. */
export function withoutSubscription(headers: string[], headerOf: HeaderOf): string[] {
  if (subscriptionToken(headerOf) === undefined) return headers;
  return withoutHeaders(headers, new Set([...KEY_HEADERS, ACCOUNT_HEADER]));
}

/** Returns the systems that accept one of the tokens in a value; `undefined` if none is of a subscription. */
function systemsIn(value: string): readonly string[] | undefined {
  if (!SIGNS.test(value)) return undefined;
  return value
    .split(NO_TOKEN)
    .map(systemsOf)
    .find((each) => each !== undefined);
}

/** Matches each beginning of a token, and the header of an account. */
const SIGNS = /sk-ant-oat|ya29\.|eyJ|chatgpt-account-id/i;

/** Matches what separates tokens in a value: schemes, quotes, and lines that were joined. */
const NO_TOKEN = /[\s,;:="']+/;

const OPENAI = ["openai"];

function systemsOf(token: string): readonly string[] | undefined {
  if (token.startsWith("sk-ant-oat")) return ["anthropic"];
  if (token.startsWith("ya29.")) return ["gcp.gemini", "gcp.vertex_ai"];
  return issuerOf(token) === OPENAI_ISSUER ? OPENAI : undefined;
}

/** Issuer of the tokens of ChatGPT's subscriptions. */
const OPENAI_ISSUER = "https://auth.openai.com";

/** Returns the issuer that a JWT names; `undefined` for other tokens. It is not verified: the provider does that. */
function issuerOf(token: string): unknown {
  const [, claims = "", signature] = token.split(".");
  if (!token.startsWith("eyJ") || signature === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(claims, "base64url").toString("utf8"));
    return isJsonObject(value) ? value.iss : undefined;
  } catch {
    return undefined;
  }
}

import type { Exchange } from "../../http/exchange.ts";
import { parseObject } from "../formats/parse-object.ts";

/**
 * Returns the systems that accept the client's OAuth token, because a vendor issued it for its own APIs: no other provider
 * may get it. `undefined` for other keys.
 */
export function systemsOfToken(exchange: Exchange): readonly string[] | undefined {
  const [, token] = /^Bearer +(\S+)$/i.exec(exchange.header("authorization") ?? "") ?? [];
  if (token === undefined) return undefined;
  if (token.startsWith("sk-ant-oat")) return ["anthropic"];
  if (token.startsWith("ya29.")) return ["gcp.gemini", "gcp.vertex_ai"];
  if (exchange.header("chatgpt-account-id") !== undefined || issuerOf(token) === OPENAI_ISSUER)
    return ["openai"];
  return undefined;
}

/** Issuer of the tokens of ChatGPT's subscriptions. */
const OPENAI_ISSUER = "https://auth.openai.com";

/** Returns the issuer that a JWT names; `undefined` for other tokens. It is not verified: the provider does that. */
function issuerOf(token: string): unknown {
  const [, claims = "", signature] = token.split(".");
  if (!token.startsWith("eyJ") || signature === undefined) return undefined;
  return parseObject(Buffer.from(claims, "base64url").toString("utf8"))?.iss;
}

import { readFileSync } from "node:fs";
import { createLocalJWKSet, type JWTPayload, jwtVerify } from "jose";
import { type Gate, serveProxy } from "./handwritten-proxy.ts";

// The same chain as gateways/chain.yaml, by hand: CORS, a verified token (kept until it expires), one rule.

const keys = createLocalJWKSet(JSON.parse(readFileSync(process.env.JWKS ?? "", "utf8")));
const verified = new Map<string, JWTPayload>();

async function claimsOf(authorization: string | undefined): Promise<JWTPayload | undefined> {
  const token = authorization?.startsWith("Bearer ") ? authorization.slice(7) : "";
  const known = verified.get(token);
  if (known !== undefined && (known.exp ?? 0) * 1000 > Date.now()) return known;
  verified.delete(token);
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: "https://idp.example.com",
      audience: "bench",
      requiredClaims: ["exp"],
    });
    if (verified.size > 10_000) verified.clear();
    verified.set(token, payload);
    return payload;
  } catch {
    return undefined;
  }
}

const gate: Gate = async (request, added, refuse) => {
  const { origin } = request.headers;
  added.push("vary", "Origin");
  if (origin === "https://app.example.com") added.push("access-control-allow-origin", origin);
  if (request.method === "OPTIONS" && request.headers["access-control-request-method"]) {
    added.push("access-control-allow-methods", "GET, POST");
    refuse(204);
    return true;
  }
  const claims = await claimsOf(request.headers.authorization);
  if (claims === undefined) {
    refuse(401);
    return true;
  }
  if (claims.role === "reader" && (request.method === "GET" || request.method === "POST")) {
    return false;
  }
  refuse(403);
  return true;
};

serveProxy(gate);

import { exportJWK, generateKeyPair, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { callWith } from "../harness/call.ts";
import { startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { now, publicPart, sign } from "../harness/token.ts";
import { type RouteCase, startRoutes } from "./routes.ts";

async function pair(alg: string, members: object): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), ...members };
}

/** Keys that cannot verify a token, with what is wrong with them. */
const useless: readonly (readonly [string, object])[] = [
  ["are for encryption", { use: "enc" }],
  ["name an algorithm that is not theirs", { alg: "ES256" }],
  ["name a secret's algorithm", { alg: "HS256" }],
];

/** Returns a route that trusts the keys of one issuer, and the same or other keys of a second one with audiences. */
function trusting(first: readonly JWK[], second = first, rules: readonly string[] = []): RouteCase {
  const jwks = (keys: readonly JWK[]) => ({
    inline: JSON.stringify({ keys: keys.map(publicPart) }),
  });
  const providers = [
    { issuer: "https://first.example", jwks: jwks(first) },
    { issuer: "https://second.example", audiences: ["a"], jwks: jwks(second) },
  ];
  const authorization = rules.length === 0 ? {} : { authorization: { rules } };
  return { policies: { jwtAuth: { providers }, ...authorization } };
}

const from = (issuer: string) => ({ iss: `https://${issuer}.example`, exp: now() + 60 });

let gateway: Gateway;
let keys: Readonly<Record<"rsa" | "ec" | "named" | "unnamed" | "other", JWK>>;

beforeAll(async () => {
  const [rsa, other, ec] = await Promise.all([
    pair("RS256", { kid: "1" }),
    pair("RS256", { kid: "other" }),
    pair("ES256", { kid: "1" }),
  ]);
  const { kid: _, ...unnamed } = rsa;
  keys = { rsa, ec, named: { ...ec, kid: "ec" }, unnamed, other };
  const bad = useless.map(([name, members]) => [slug(name), trusting([{ ...rsa, ...members }])]);
  gateway = await startRoutes(
    {
      two: trusting([rsa], [ec]),
      plain: trusting([rsa]),
      choice: trusting([unnamed, keys.named]),
      unsure: trusting([unnamed, keys.named, other]),
      claims: trusting([ec]),
      admin: trusting([ec], [ec], ["jwt.admin == true"]),
      odd: trusting([ec], [ec], ["jwt.constructor == 1"]),
      ...Object.fromEntries(bad),
    },
    await startEcho(),
  );
});

const slug = (name: string) => name.replaceAll(/\W+/g, "-");

const status = async (token: string, route: string) =>
  (await callWith(`${gateway.url}/${route}`, token)).status;

describe("inline keys", () => {
  it("of two issuers are not exchanged, even with the same name", async () => {
    const { rsa, ec } = keys;
    const accepted = { ...from("second"), aud: ["b", "a"] };
    const es256 = { alg: "ES256" };
    expect(await status(await sign(rsa, from("first"), { alg: "RS256" }), "two")).toBe(200);
    expect(await status(await sign(ec, accepted, es256), "two")).toBe(200);
    expect(await status(await sign(rsa, accepted, { alg: "RS256" }), "two")).toBe(401);
    expect(await status(await sign(ec, from("first"), es256), "two")).toBe(401);
    expect(await status(await sign(ec, from("second"), es256), "two")).toBe(401);
  });

  it("without an algorithm verify only those of their type", async () => {
    for (const alg of ["RS256", "RS512", "PS256"]) {
      expect(await status(await sign(keys.rsa, from("first"), { alg }), "plain")).toBe(200);
    }
    expect(await status(await sign(keys.ec, from("first"), { alg: "ES256" }), "plain")).toBe(401);
  });

  it("are found without a name only if there is one candidate", async () => {
    const token = await sign(keys.unnamed, from("first"), { alg: "RS256" });
    expect(await status(token, "choice")).toBe(200);
    expect(await status(token, "unsure")).toBe(401);
  });

  it.each(useless)("that %s verify no tokens", async (name) => {
    const token = await sign(keys.rsa, from("first"), { alg: "RS256" });
    expect(await status(token, slug(name))).toBe(401);
  });

  it("return claims as they were signed", async () => {
    const asked = async (claims: object | string, route: string) =>
      status(await sign(keys.ec, claims, { alg: "ES256" }), route);
    const odd = JSON.stringify(from("first")).replace("}", ',"__proto__":{"admin":true}}');
    expect(await asked(odd, "admin")).toBe(403);
    expect(await asked({ ...from("first"), admin: true }, "admin")).toBe(200);
    expect(await asked({ ...from("first"), constructor: 1 }, "odd")).toBe(200);
    expect(await asked(from("first"), "odd")).toBe(403);
  });

  it("survive claims of the deepest nesting that fits in a token", async () => {
    const depth = 5900;
    const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const claims = JSON.stringify({ ...from("first"), deep: "here" }).replace('"here"', deep);
    const token = await sign(keys.ec, claims, { alg: "ES256" });
    expect(token.length).toBeLessThan(16_384);
    expect(await status(token, "claims")).toBe(200);
    expect(await status(token, "admin")).toBe(403);
  });
});

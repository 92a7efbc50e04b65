import { exportJWK, generateKeyPair, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import { now, publicPart, sign } from "../harness/token.ts";
import { startWorld, type World } from "./jwt-world.ts";

describe("inline keys", () => {
  async function pair(alg: string, members: object, bits = 2048): Promise<JWK> {
    const pair = await generateKeyPair(alg, { extractable: true, modulusLength: bits });
    return { ...(await exportJWK(pair.privateKey)), ...members };
  }

  function start(first: JWK[], second: JWK[] = first): Promise<World> {
    const [one, two] = [first, second].map((keys) =>
      JSON.stringify({ keys: keys.map(publicPart) }),
    );
    return startWorld({ inline: [one ?? "", two ?? ""] });
  }

  const from = (issuer: string) => ({ iss: `https://${issuer}.example`, exp: now() + 60 });

  it("of two issuers are not exchanged, though they have the same name", async () => {
    const first = await pair("RS256", { kid: "1" });
    const second = await pair("ES256", { kid: "1" });
    const { status } = await start([first], [second]);
    const accepted = { ...from("second"), aud: ["b", "a"] };
    expect(await status(await sign(first, from("first")), "inline")).toBe(200);
    expect(await status(await sign(second, accepted, { alg: "ES256" }), "inline")).toBe(200);
    expect(await status(await sign(first, accepted), "inline")).toBe(401);
    expect(await status(await sign(second, from("first"), { alg: "ES256" }), "inline")).toBe(401);
    expect(await status(await sign(second, from("second"), { alg: "ES256" }), "inline")).toBe(401);
  });

  it("without an algorithm take those of their type, and no others", async () => {
    const rsa = await pair("RS256", { kid: "rsa" });
    const { status } = await start([rsa]);
    for (const alg of ["RS256", "RS512", "PS256"]) {
      expect(await status(await sign(rsa, from("first"), { alg }), "inline")).toBe(200);
    }
  });

  it("are found without a name only when there is no choice", async () => {
    const { kid: _, ...rsa } = await pair("RS256", {});
    const ec = await pair("ES256", { kid: "ec" });
    const other = await pair("RS256", { kid: "other" });
    const { status } = await start([rsa, ec]);
    expect(await status(await sign(rsa, from("first")), "inline")).toBe(200);
    const unsure = await start([rsa, ec, other]);
    expect(await unsure.status(await sign(rsa, from("first")), "inline")).toBe(401);
  });

  it.each([
    ["are for encryption", { use: "enc" }],
    ["name an algorithm that is not theirs", { alg: "ES256" }],
    ["name a secret's algorithm", { alg: "HS256" }],
  ])("that %s check no tokens", async (_, members) => {
    const key = await pair("RS256", { kid: "1", ...members });
    const { status } = await start([key]);
    expect(await status(await sign(key, from("first"), { alg: "RS256" }), "inline")).toBe(401);
  });

  it("give claims as they were signed, and no claim is made of an object's own names", async () => {
    const key = await pair("ES256", { kid: "1", alg: "ES256" });
    const { status } = await start([key]);
    const odd = JSON.stringify(from("first")).replace("}", ',"__proto__":{"admin":true}}');
    expect(await status(await sign(key, odd), "admin")).toBe(403);
    expect(await status(await sign(key, { ...from("first"), admin: true }), "admin")).toBe(200);
    expect(await status(await sign(key, { ...from("first"), constructor: 1 }), "odd")).toBe(200);
    expect(await status(await sign(key, from("first")), "odd")).toBe(403);
  });

  it("survive claims of the deepest nesting that fits in a token", async () => {
    const key = await pair("ES256", { kid: "1", alg: "ES256" });
    const { status } = await start([key]);
    const depth = 5900;
    const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const claims = JSON.stringify({ ...from("first"), deep: "here" }).replace('"here"', deep);
    const token = await sign(key, claims);
    expect(token.length).toBeLessThan(16_384);
    expect(await status(token, "inline")).toBe(200);
    expect(await status(token, "admin")).toBe(403);
  });
});

import type { JWTPayload } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { send } from "../mcp/raw-client.ts";
import { BACK_CHANNEL, ConnectionWorld, type Person } from "./connection-world.ts";
import { findings } from "./refused.ts";

let world: ConnectionWorld;

beforeAll(async () => {
  world = await ConnectionWorld.start();
});

/** A person with a connection to the server `users`. */
async function connected(name: string): Promise<Person> {
  const person = await world.person(name);
  await world.connectAccount(person, "users");
  expect(await world.whoAmI("tools", person)).toBe(name);
  return person;
}

/** Logs out at the provider, which has a page for that. */
async function logOutAtProvider({ agent }: Person): Promise<void> {
  const page = await agent.open(`${world.login.issuer}/session/end`);
  const [, xsrf = ""] = /name="xsrf" value="([^"]+)"/.exec(page.body) ?? [];
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = `xsrf=${xsrf}&logout=yes`;
  await agent.open(`${world.login.issuer}/session/end/confirm`, { method: "POST", headers, body });
}

const isLoggedIn = async ({ agent }: Person): Promise<boolean> =>
  (await agent.ask(`${world.base}/connect`)).status === 200;

const seconds = () => Math.floor(Date.now() / 1000);

function claimsOf(sub: string | undefined, more: JWTPayload = {}): JWTPayload {
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const iat = seconds();
  return {
    ...{
      iss: world.login.issuer,
      aud: "connect",
      iat,
      exp: iat + 60,
      jti: `${iat}-${sub}`,
      events,
    },
    ...(sub !== undefined && { sub }),
    ...more,
  };
}

function withoutEnd(sub: string): JWTPayload {
  const { exp: _, ...claims } = claimsOf(sub);
  return claims;
}

/** Announces a logout as the provider does. */
const announce = (token: string) =>
  send(`${world.base}${BACK_CHANNEL}`, {
    headers: { "content-type": "application/x-www-form-urlencoded", accept: null },
    body: new URLSearchParams({ logout_token: token }).toString(),
  });

describe("a logout at the provider", () => {
  it("ends the session and the connections of its user, with their tokens", async () => {
    const [alice, bob] = [await connected("alice"), await connected("bob")];
    world.users.revoked.length = 0;
    await logOutAtProvider(alice);
    await expect.poll(() => isLoggedIn(alice)).toBe(false);
    // The gateway ends the session before the connections.
    await expect.poll(() => world.whoAmI("tools", alice)).toContain("/connect/users");
    await expect.poll(() => world.users.revoked.length).toBeGreaterThan(0);
    expect(await isLoggedIn(bob)).toBe(true);
    expect(await world.whoAmI("tools", bob)).toBe("bob");
  });

  it("that names the user ends all sessions that began before, and no later ones", async () => {
    const carol = await connected("carol");
    const other = await world.person("carol");
    await world.connectAccount(other, "users");
    const response = await announce(await world.login.sign(claimsOf("carol")));
    expect([response.status, response.headers["cache-control"]]).toEqual([200, "no-store"]);
    expect(await isLoggedIn(carol)).toBe(false);
    expect(await isLoggedIn(other)).toBe(false);
    const late = await connected("dora");
    await announce(await world.login.sign(claimsOf("dora", { iat: seconds() - 3600 })));
    expect(await isLoggedIn(late)).toBe(true);
  });

  it("that names another session ends no session of the user", async () => {
    const erin = await connected("erin");
    const token = await world.login.sign(claimsOf("erin", { sid: "other" }));
    expect((await announce(token)).status).toBe(200);
    expect(await isLoggedIn(erin)).toBe(true);
  });
});

describe("a request without a valid logout token ends nothing", () => {
  it.each([
    ["no token", () => Promise.resolve("")],
    [
      "an ID token",
      () => world.login.sign({ ...claimsOf("fay"), events: undefined, nonce: "n" }, "JWT"),
    ],
    ["a token with a nonce", () => world.login.sign(claimsOf("fay", { nonce: "n" }))],
    [
      "another event",
      () => world.login.sign(claimsOf("fay", { events: { "https://a.test": {} } })),
    ],
    ["an event that is no object", () => world.login.sign(claimsOf("fay", { events: [] }))],
    ["another client's token", () => world.login.sign(claimsOf("fay", { aud: "token" }))],
    ["another issuer's token", () => world.login.sign(claimsOf("fay", { iss: "https://a.test" }))],
    ["an expired token", () => world.login.sign(claimsOf("fay", { exp: seconds() - 120 }))],
    ["a token without an end", () => world.login.sign(withoutEnd("fay"))],
    ["a token of another purpose", () => world.login.sign(claimsOf("fay"), "dpop+jwt")],
    ["a token that names nobody", () => world.login.sign(claimsOf(undefined))],
    [
      "a token without a signature",
      async () => {
        const [, payload] = (await world.login.sign(claimsOf("fay"))).split(".");
        return `${btoa('{"alg":"none"}').replaceAll("=", "")}.${payload}.`;
      },
    ],
  ])("%s", async (_, token) => {
    const fay = await connected("fay");
    const response = await announce(await token());
    expect(response.status).toBe(400);
    expect(JSON.parse(response.text).error).toBe("invalid_request");
    expect(await isLoggedIn(fay)).toBe(true);
    expect(await world.whoAmI("tools", fay)).toBe("fay");
  });

  it("a page of another site", async () => {
    const gina = await connected("gina");
    const headers = { "sec-fetch-site": "cross-site" };
    const token = await world.login.sign(claimsOf("gina"));
    const body = new URLSearchParams({ logout_token: token }).toString();
    const response = await send(`${world.base}${BACK_CHANNEL}`, { headers, body });
    expect(response.status).toBe(400);
    expect(await isLoggedIn(gina)).toBe(true);
  });
});

it("a logout token does not authenticate requests", async () => {
  const authorization = `Bearer ${await world.login.sign(claimsOf("alice", { aud: "token" }))}`;
  const response = await send(`${world.base}/tools`, { headers: { authorization }, body: "{}" });
  expect(response.status).toBe(401);
});

it("the path of announcements is another one than that of logouts", () => {
  const logout = { path: "/out", backChannelPath: "/out" };
  const oidc = {
    ...{ issuer: "https://id.test", clientId: "a", clientSecret: "${S}", logout },
    redirectURI: "https://a.test/in",
  };
  const backends = [{ host: "a.test:80" }];
  expect(findings({ policies: { oidc }, backends })).toEqual(["broken-rule"]);
});

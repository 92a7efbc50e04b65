import { beforeAll, describe, expect, it } from "vitest";
import type { LoginProvider } from "../harness/login-provider.ts";
import { send } from "../harness/send.ts";
import { UserAgent } from "../harness/user-agent.ts";
import { withCookies } from "./cookie-agent.ts";
import { type LoginWorld, startLoginWorld } from "./oidc-world.ts";

let world: LoginWorld;
let provider: LoginProvider;
let base: string;

beforeAll(async () => {
  world = await startLoginWorld();
  ({ provider, base } = world);
});

const headersOf = (body: string): Record<string, string> => JSON.parse(body).headers;

describe("attacks on logins", () => {
  /** A browser before the last step of a login. */
  async function beforeCallback(
    agent: UserAgent,
    page = `${base}/app`,
    site = base,
  ): Promise<string> {
    let step = await agent.ask(page);
    while (step.location !== undefined && !step.location.startsWith(site)) {
      step = await agent.ask(step.location);
    }
    if (step.location !== undefined) return step.location;
    step = await agent.ask(step.url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "login=alice",
    });
    while (step.location !== undefined && !step.location.startsWith(site)) {
      step = await agent.ask(step.location);
    }
    return step.location ?? "";
  }

  it("a response of the provider is accepted once, even with the cookie of its login", async () => {
    const agent = new UserAgent();
    const callback = await beforeCallback(agent);
    const cookies = new Map(agent.cookies(base));
    expect((await agent.ask(callback)).status).toBe(302);
    const asked = provider.asked.length;
    for (const each of [agent, withCookies(base, cookies)]) {
      const again = await each.ask(callback);
      expect(again.status).toBe(400);
      expect(again.body).toMatch(
        /this login (was not started in this browser|was already completed)/,
      );
    }
    expect(provider.asked.length).toBe(asked);
  });

  it("a login that one replica began is finished once, at any replica", async () => {
    const agent = new UserAgent();
    const { replica } = world;
    const copy = (from: string, to: string) => {
      for (const [name, value] of agent.cookies(from)) agent.cookies(to).set(name, value);
    };
    const callback = await beforeCallback(agent);
    copy(base, replica);
    expect((await agent.ask(callback.replace(base, replica))).status).toBe(302);
    // The provider accepts a code once, from any client.
    expect((await agent.ask(callback)).status).toBe(400);
    copy(replica, base);
    for (const each of [replica, base]) expect((await agent.ask(`${each}/app`)).status).toBe(200);
  });

  it("a listener behind HTTPS keeps its cookies to its own host, whatever the route", async () => {
    const agent = new UserAgent();
    const page = `${world.secure}/page?x=1`;
    const callback = new URL(await beforeCallback(agent, page, "https://secure.example"));
    const finished = await agent.ask(`${world.secure}${callback.pathname}${callback.search}`);
    expect(finished.location).toBe(page);
    expect(finished.headers["set-cookie"]).toContainEqual(
      expect.stringMatching(
        /^__Host-gwc-oidc-[0-9a-f]{8}=.+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    );
    const shown = await agent.ask(page);
    expect(shown.status).toBe(200);
    expect(headersOf(shown.body)).not.toHaveProperty("cookie");
    expect((await send(page, "GET")).status).toBe(401);
  });

  it("a response for another browser is refused", async () => {
    const callback = await beforeCallback(new UserAgent());
    const victim = new UserAgent();
    await victim.ask(`${base}/app`);
    const page = await victim.ask(callback);
    expect(page.status).toBe(400);
    expect(page.body).toContain("was not started in this browser");
    expect((await victim.ask(`${base}/app`, { headers: { accept: "*/*" } })).status).toBe(401);
  });

  it.each([
    ["another state", (url: URL) => url.searchParams.set("state", "x".repeat(43))],
    ["another issuer", (url: URL) => url.searchParams.set("iss", "http://evil.example")],
    ["no issuer", (url: URL) => url.searchParams.delete("iss")],
    ["a made-up code", (url: URL) => url.searchParams.set("code", "made-up")],
  ])("a response with %s is refused", async (_, change) => {
    const agent = new UserAgent();
    const url = new URL(await beforeCallback(agent));
    change(url);
    expect((await agent.ask(url.href)).status).toBe(400);
    expect((await agent.ask(`${base}/app`, { headers: { accept: "*/*" } })).status).toBe(401);
  });

  it("a session that is changed, truncated or another client's is invalid", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/app`, "alice");
    await agent.logIn(`${base}/local`, "alice");
    const [own, other] = [...agent.cookies(base)];
    if (own === undefined || other === undefined) throw new Error("no sessions");
    const [name, value] = own;
    const middle = Math.floor(value.length / 2);
    const flipped = value[middle] === "A" ? "B" : "A";
    const tampered = [
      `${value.slice(0, middle)}${flipped}${value.slice(middle + 1)}`,
      value.slice(0, -4),
      `2${value.slice(1)}`,
      `9${value.slice(1)}`,
      "",
      other[1],
      `1.${Buffer.from('{"idToken":"a.b.c"}').toString("base64url")}`,
    ];
    for (const each of tampered) {
      const { status } = await send(`${base}/app`, "GET", { cookie: `${name}=${each}` });
      expect(status, each).toBe(401);
    }
    expect((await send(`${base}/app`, "GET", { cookie: `${name}=${value}` })).status).toBe(200);
  });

  it.each(["//evil.example/x", "/\\evil.example", "https://evil.example/"])(
    "a redirect to another site is not followed: %s",
    async (target) => {
      const agent = new UserAgent();
      const callback = await beforeCallback(
        agent,
        `${base}/app/x?next=${encodeURIComponent(target)}`,
      );
      const { location } = await agent.ask(callback);
      expect(new URL(location ?? "").origin).toBe(base);
    },
  );

  it("no parameter of a request chooses where a login ends", async () => {
    const agent = new UserAgent();
    const url = `${base}/app?redirect_uri=http://evil.example&rd=http://evil.example`;
    const asked = await agent.ask(url);
    expect(new URL(asked.location ?? "").searchParams.get("redirect_uri")).toBe(
      `${base}/app-callback`,
    );
  });

  it("an id token of another login is refused", async () => {
    const agent = new UserAgent();
    const first = new URL(await beforeCallback(agent));
    const second = new URL(await beforeCallback(agent));
    // The code of one login with the state of another: its verifier does not match.
    first.searchParams.set("state", second.searchParams.get("state") ?? "");
    expect((await agent.ask(first.href)).status).toBe(400);
  });
});

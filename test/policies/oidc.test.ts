import { beforeAll, describe, expect, it } from "vitest";
import type { Echo } from "../harness/echo.ts";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { CLIENT_SECRET, type LoginProvider } from "../harness/login-provider.ts";
import { RawClient } from "../harness/raw-client.ts";
import { send } from "../harness/send.ts";
import { UserAgent } from "../harness/user-agent.ts";
import { withCookies } from "./cookie-agent.ts";
import { type LoginWorld, startLoginWorld } from "./oidc-world.ts";

let world: LoginWorld;
let provider: LoginProvider;
let upstream: Echo;
let gateway: Gateway;
let base: string;

beforeAll(async () => {
  world = await startLoginWorld();
  ({ provider, upstream, gateway, base } = world);
});

const grants = () => provider.asked.map((form) => form.get("grant_type"));
const headersOf = (body: string): Record<string, string> => JSON.parse(body).headers;

describe("a login", () => {
  it("leads through the provider to the requested page with its query", async () => {
    const agent = new UserAgent();
    const page = await agent.logIn(`${base}/app/deep/page?x=1&y=%2F`, "alice");
    expect(page).toMatchObject({ status: 200, url: `${base}/app/deep/page?x=1&y=%2F` });
    expect(headersOf(page.body)).toMatchObject({ "x-user": "alice@example.com", "x-sub": "alice" });
    // The server sees neither the session nor a token.
    expect(headersOf(page.body)).not.toHaveProperty("cookie");
    expect(headersOf(page.body)).not.toHaveProperty("authorization");
    await gateway.seen(/http\.path=\/app\/deep\/page .*http\.status=200 .*jwt\.sub=alice/);
  });

  it("is not forwarded to servers, whichever route and port its browser uses", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/app`, "alice");
    await agent.ask(`${base}/local`);
    const own = [...agent.cookies(base)].map(([name, value]) => `${name}=${value}`);
    expect(own.length).toBeGreaterThan(1);
    const shown = async (url: string, cookie: string) =>
      headersOf((await send(url, "GET", { cookie })).body).cookie;
    for (const url of [`${base}/app-bye`, `${world.open}/any`]) {
      expect(await shown(url, own.join("; "))).toBeUndefined();
      expect(await shown(url, ["a=1", ...own, "b=2"].join("; "))).toBe("a=1; b=2");
      expect(await shown(url, ["a=1", ...own, "b=2"].join(", "))).toBe("a=1, b=2");
      expect(await shown(url, `a=gwc-oidc; ${own.map((each) => `__Host-${each}`).join(";")}`)).toBe(
        "a=gwc-oidc",
      );
    }
  });

  it("is not forwarded to servers by a client with several Cookie headers", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/app`, "alice");
    const [[name, value] = []] = [...agent.cookies(base)];
    const client = new RawClient(Number(new URL(world.open).port));
    const cookies = ["a=1", `${name}=${value}`, "b=2"].map((each) => `Cookie: ${each}\r\n`);
    client.send(`GET / HTTP/1.1\r\nHost: a\r\n${cookies.join("")}Connection: close\r\n\r\n`);
    await client.closes();
    expect(client.received).toContain('"cookie":"a=1; b=2"');
  });

  it("uses PKCE, a state, a nonce and the scopes, and hides them from scripts", async () => {
    const asked = await new UserAgent().ask(`${base}/app`);
    expect(asked).toMatchObject({ status: 302, headers: { "cache-control": "no-store" } });
    const url = new URL(asked.location ?? "");
    const parameters = Object.fromEntries(url.searchParams);
    expect(parameters).toMatchObject({
      response_type: "code",
      client_id: "app",
      redirect_uri: `${base}/app-callback`,
      scope: "openid email profile",
      code_challenge_method: "S256",
    });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(parameters[name]).toMatch(/^[\w-]{43}$/);
    }
    expect(asked.headers["set-cookie"]).toMatch(
      /^gwc-oidc-[0-9a-f]{8}-login-[\w-]{10}=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
  });

  it("sends the secret as the provider requires", async () => {
    const page = await new UserAgent().logIn(`${base}/post`, "alice");
    expect(page.status).toBe(200);
    expect(provider.asked.at(-1)?.get("code_verifier")).toMatch(/^[\w-]{43}$/);
  });

  it("works with configured endpoints", async () => {
    expect((await new UserAgent().logIn(`${base}/given`, "alice")).status).toBe(200);
    expect((await new UserAgent().logIn(`${base}/given`, "bob")).status).toBe(403);
    expect((await send(`${base}/given`, "GET")).status).toBe(401);
  });

  it("can be started in several pages of a browser at a time", async () => {
    const agent = new UserAgent();
    const first = await agent.ask(`${base}/app/one`);
    const second = await agent.ask(`${base}/app/two`);
    const page = await agent.submit(await agent.open(first.location ?? ""), "alice");
    expect(page.url).toBe(`${base}/app/one`);
    // The provider knows the browser by now.
    expect((await agent.open(second.location ?? "")).url).toBe(`${base}/app/two`);
  });

  it("that is started repeatedly does not fill the browser", async () => {
    const agent = new UserAgent();
    for (let i = 0; i < 40; i += 1) await agent.ask(`${base}/app/${i}`);
    expect(agent.cookies(base).size).toBeLessThanOrEqual(12);
  });

  it("of a user whom the provider refuses ends with its error", async () => {
    const page = await new UserAgent().logIn(`${base}/app`, "nobody");
    expect(page.status).toBe(403);
    expect(page.body).toContain("the login server refused: access_denied");
  });

  it("is stored in several cookies if it is long", async () => {
    const agent = new UserAgent();
    const page = await agent.logIn(`${base}/local`, "long5000");
    expect(page.status).toBe(200);
    expect(headersOf(page.body)).not.toHaveProperty("cookie");
    const names = [...agent.cookies(base).keys()].filter((name) => !name.includes("login"));
    expect(names).toHaveLength(3);
    for (const [name, value] of agent.cookies(base)) {
      expect(name.length + value.length).toBeLessThan(4000);
    }
    const shorter = await agent.open(`${base}/local/logout`);
    expect(shorter.body).toBe("logged out");
    expect([...agent.cookies(base).keys()]).toEqual([]);
    expect((await new UserAgent().logIn(`${base}/local`, "long9000")).status).toBe(502);
  });
});

describe("a request that is not for a page", () => {
  const cases: readonly (readonly [
    what: string,
    method: string,
    headers: Record<string, string>,
  ])[] = [
    ["a program", "GET", {}],
    ["a script of a page", "GET", { accept: "text/html", "sec-fetch-mode": "cors" }],
    ["an image", "GET", { accept: "text/html", "sec-fetch-mode": "no-cors" }],
    ["an older script", "GET", { accept: "text/html", "x-requested-with": "XMLHttpRequest" }],
    ["a client that wants JSON", "GET", { accept: "application/json" }],
    ["a form", "POST", { accept: "text/html", "sec-fetch-mode": "navigate" }],
    [
      "a preflight",
      "OPTIONS",
      { origin: "http://a.example", "access-control-request-method": "PUT" },
    ],
    ["a bearer token", "GET", { authorization: "Bearer abc" }],
  ];
  it.each(cases)("gets a 401 instead of a redirect: %s", async (_, method, headers) => {
    const before = upstream.count();
    const response = await send(`${base}/app`, method, headers);
    expect(response.status).toBe(401);
    expect(response.headers["www-authenticate"]).toMatch(/^Cookie cookie-name="gwc-oidc-/);
    expect(response.headers).not.toHaveProperty("set-cookie");
    expect(upstream.count()).toBe(before);
  });

  it("passes with a session", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/app`, "alice");
    const asked = await agent.ask(`${base}/app/api`, {
      method: "POST",
      headers: { accept: "application/json", "sec-fetch-mode": "cors" },
    });
    expect(asked.status).toBe(200);
  });
});

describe("a session", () => {
  it("ends with its id token if it can't be renewed", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/short`, "alice");
    const asked = () => agent.ask(`${base}/short`, { headers: { accept: "*/*" } });
    await eventually(async () => ((await asked()).status === 401 ? true : null), "its end");
    // A browser is logged in again: the provider still knows it.
    const page = await agent.open(`${base}/short/again`);
    expect(page.url).toBe(`${base}/short/again`);
  });

  it("is renewed once for all requests before it ends", async () => {
    const agent = new UserAgent();
    const page = await agent.logIn(`${base}/brief`, "alice");
    const first = headersOf(page.body).authorization ?? "";
    expect(first).toMatch(/^Bearer ey/);
    const old = new Map(agent.cookies(base));
    const before = grants().length;
    await eventually(async () => {
      await agent.ask(`${base}/brief`);
      return grants().length > before ? true : null;
    }, "a renewal");
    expect(grants().slice(before)).toEqual(["refresh_token"]);
    // Requests in flight still send the earlier session, and get the same new one.
    const late = await Promise.all(
      Array.from({ length: 8 }, () => withCookies(base, old).ask(`${base}/brief`)),
    );
    for (const each of late) {
      expect(each.status).toBe(200);
      expect(each.headers["cache-control"]).toBe("private, no-store");
      expect(headersOf(each.body).authorization).not.toBe(first);
    }
    expect(
      provider.asked.filter(
        (form) => form.get("refresh_token") === provider.asked.at(before)?.get("refresh_token"),
      ),
    ).toHaveLength(1);
  });

  it("that is logged out is invalid even if its cookie was copied", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/app`, "alice");
    const copy = new Map(agent.cookies(base));
    const asked = await agent.ask(`${base}/app/logout`);
    const url = new URL(asked.location ?? "");
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: "app",
      post_logout_redirect_uri: `${base}/app-bye`,
      id_token_hint: expect.stringMatching(/^ey/),
    });
    expect(agent.cookies(base).size).toBe(0);
    // Many connections: each thread has some of them.
    const headers = { accept: "*/*" };
    const again = Array.from({ length: 12 }, () =>
      withCookies(base, copy).ask(`${base}/app`, { headers }),
    );
    for (const { status } of await Promise.all(again)) expect(status).toBe(401);
  });

  it("can be ended only at the gateway, and not by a page of another site", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/local`, "alice");
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await agent.ask(`${base}/local/logout`, { headers })).status).toBe(403);
    expect((await agent.ask(`${base}/local`)).status).toBe(200);
    expect(await agent.ask(`${base}/local/logout`)).toMatchObject({
      status: 200,
      body: "logged out",
    });
    expect((await agent.ask(`${base}/local`, { headers: { accept: "*/*" } })).status).toBe(401);
  });
});

describe("a provider that fails", () => {
  it("refuses new logins but keeps sessions", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/app`, "alice");
    const asked = await new UserAgent().ask(world.away);
    expect(asked).toMatchObject({ status: 503 });
    expect(asked.body).toContain("the login server is not reachable");
    const refused = await send(world.away, "GET");
    expect(refused.headers["www-authenticate"]).toMatch(/"__Host-gwc-oidc-/);
    provider.fault = (_, response) => response.writeHead(500).end();
    const callback = await new UserAgent().logIn(`${base}/app`, "alice");
    expect(callback.status).toBe(502);
    expect((await agent.ask(`${base}/app`)).status).toBe(200);
    provider.fault = undefined;
  });

  it("does not end a session that can't be renewed now", async () => {
    const agent = new UserAgent();
    await agent.logIn(`${base}/brief`, "alice");
    const ask = () => agent.ask(`${base}/brief`, { headers: { accept: "*/*" } });
    const from = gateway.output.length;
    provider.fault = (_, response) => response.writeHead(500).end();
    await eventually(async () => {
      await ask();
      return gateway.output.includes("a session could not be renewed", from) ? true : null;
    }, "an attempt");
    provider.fault = undefined;
    await eventually(async () => ((await ask()).status === 200 ? true : null), "the session");
  });

  it("never has its secret, a token or a code in the log", async () => {
    const secrets = [CLIENT_SECRET, encodeURIComponent(CLIENT_SECRET), "ey", "code_verifier"];
    for (const secret of secrets) expect(gateway.output).not.toContain(`${secret}.`);
    for (const form of provider.asked) {
      for (const name of ["code", "refresh_token", "code_verifier"]) {
        const value = form.get(name);
        if (value !== null) expect(gateway.output).not.toContain(value);
      }
    }
  });
});

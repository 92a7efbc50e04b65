import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";
import { startAdmin } from "./admin-gateway.ts";

const KEY = "correct-horse-battery-staple";
const any = "127.0.0.1:0";

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

function ask(port: number, { method = "GET", path = "/ui/", host, headers, body }: Asked) {
  return new Promise<Answer>((resolve, reject) => {
    const options = {
      ...{ port, method, path, host: "127.0.0.1", agent: false },
      headers: { host: host ?? `127.0.0.1:${port}`, ...headers },
    };
    request(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, text }),
      );
    })
      .on("error", reject)
      .end(body);
  });
}

const form = { "content-type": "application/x-www-form-urlencoded" };

function logIn(port: number, key: string, more: Asked = {}): Promise<Answer> {
  const host = more.host ?? `127.0.0.1:${port}`;
  return ask(port, {
    ...{ method: "POST", path: "/ui/login", host, body: `key=${encodeURIComponent(key)}` },
    headers: { origin: `http://${host}`, ...form, ...more.headers },
  });
}

const cookieIn = ({ headers }: Answer) => String(headers["set-cookie"]?.[0]?.split(";")[0]);

function config(admin: object | undefined, port: number, adminAddr: string): string {
  return JSON.stringify({
    config: {
      ...{ statsAddr: any, readinessAddr: any, adminAddr, logging: { audit: { file: "a.log" } } },
      ...(admin !== undefined && { admin }),
    },
    gateways: { default: { port } },
    routes: [{ name: "shop", policies: { directResponse: { status: 200, body: "fine" } } }],
  });
}

describe("the admin page beyond loopback", () => {
  let port = 0;
  let workspace: Workspace;
  let gatewayPort = 0;
  const admin = { key: { file: "admin.key" }, hostnames: ["admin.example.com"] };

  beforeAll(async () => {
    gatewayPort = await freePort();
    workspace = new Workspace({
      "admin.key": `${KEY}\n`,
      "gateway.yaml": config(admin, gatewayPort, "0.0.0.0:0"),
    });
    const { url } = await startAdmin(workspace.path("gateway.yaml"));
    port = Number(new URL(url).port);
  });

  it("shows nothing before the login", async () => {
    const page = await ask(port, {});
    expect(page.status).toBe(401);
    expect(page.text).toContain("Log in");
    expect(page.text).not.toContain("gwc-page-key");
    for (const path of ["gateway", "requests", "code", "access", "keys"])
      expect((await ask(port, { path: `/ui/api/${path}` })).status).toBe(401);
    for (const path of ["try", "can", "stream", "keys"]) {
      const post = { method: "POST", path: `/ui/api/${path}`, body: "{}" };
      const origin = `http://127.0.0.1:${port}`;
      const headers = { origin, "content-type": "application/json" };
      expect((await ask(port, { ...post, headers })).status).toBe(401);
    }
    expect((await ask(port, { path: "/ui/assets/page.css" })).status).toBe(200);
    expect((await ask(port, { path: "/ui/assets/../../../gateway.yaml" })).status).not.toBe(200);
  });

  it("is open to a login until it ends", async () => {
    const opened = await logIn(port, KEY);
    expect(opened.status).toBe(303);
    expect(String(opened.headers["set-cookie"])).toMatch(/; HttpOnly; SameSite=Strict$/);
    const cookie = cookieIn(opened);
    const page = await ask(port, { headers: { cookie } });
    const [, key = ""] = /gwc-page-key" content="([^"]+)/.exec(page.text) ?? [];
    expect(page.status).toBe(200);
    const data = await ask(port, { path: "/ui/api/gateway", headers: { cookie } });
    expect(JSON.parse(data.text).has.login).toBe(true);
    // The cookie alone is not enough to act.
    const act = { method: "POST", path: "/ui/api/logout", body: "{}" };
    const json = { cookie, "content-type": "application/json" };
    const own = { ...json, origin: `http://127.0.0.1:${port}` };
    expect((await ask(port, { ...act, headers: own })).status).toBe(403);
    const foreign = { ...json, origin: "http://evil.test", "x-gwc-page": key };
    expect((await ask(port, { ...act, headers: foreign })).status).toBe(403);
    expect((await ask(port, { ...act, headers: { ...own, "x-gwc-page": key } })).status).toBe(200);
    expect((await ask(port, { headers: { cookie } })).status).toBe(401);
  });

  it("gives its API to scripts with the key", async () => {
    const path = "/ui/api/gateway";
    const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
    expect((await ask(port, { path, headers: withKey(KEY) })).status).toBe(200);
    expect((await ask(port, { path, headers: withKey("another-key-of-16") })).status).toBe(401);
    expect((await ask(port, { headers: withKey(KEY) })).status).toBe(401);
  });

  it("answers for its own names only, so that no site can point its name at it", async () => {
    for (const host of ["evil.test", `evil.test:${port}`, "admin.example.com.evil.test", ""])
      expect((await logIn(port, KEY, { host })).status).toBe(403);
    for (const host of ["admin.example.com", "ADMIN.example.com:443", `192.0.2.1:${port}`])
      expect((await ask(port, { host })).status).toBe(401);
    const named = { host: "admin.example.com" };
    const https = { headers: { origin: "https://admin.example.com" } };
    const opened = await logIn(port, KEY, { ...named, ...https });
    expect(opened.status).toBe(303);
    expect(String(opened.headers["set-cookie"])).toContain("; Secure");
    // An address has no certificate: what claims to be it over HTTPS is another site.
    const other = { headers: { origin: `https://127.0.0.1:${port}` } };
    expect((await logIn(port, KEY, other)).status).toBe(403);
  });

  it("takes no login from other sites", async () => {
    const headers = { origin: "http://evil.test", "sec-fetch-site": "cross-site" };
    expect((await logIn(port, KEY, { headers })).status).toBe(403);
    expect((await logIn(port, KEY, { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(
      403,
    );
    expect(
      (await ask(port, { method: "POST", path: "/ui/login", body: `key=${KEY}` })).status,
    ).toBe(403);
  });

  it("a cookie that was made up, or of another gateway, admits nobody", async () => {
    const cookie = cookieIn(await logIn(port, KEY));
    const [name = "", secret = ""] = cookie.split("=");
    for (const made of [
      `${name}=`,
      `${name}=${"x".repeat(43)}`,
      `${name}=${secret}x`,
      `x=${secret}`,
    ])
      expect((await ask(port, { headers: { cookie: made } })).status).toBe(401);
    expect((await ask(port, { headers: { cookie: `a=b; ${cookie}` } })).status).toBe(200);
  });

  it("another key ends all logins, and an unusable file keeps the old one", async () => {
    const cookie = cookieIn(await logIn(port, KEY));
    const status = async () => (await ask(port, { headers: { cookie } })).status;
    writeFileSync(workspace.path("admin.key"), "short");
    expect(await status()).toBe(200);
    writeFileSync(workspace.path("admin.key"), "another-correct-horse");
    await eventually(async () => (await status()) === 401 || null, "the end of the login");
    const opened = await logIn(port, "another-correct-horse");
    expect(opened.status).toBe(303);
    writeFileSync(workspace.path("admin.key"), KEY);
    const second = { cookie: cookieIn(opened) };
    const isEnded = async () => (await ask(port, { headers: second })).status === 401 || null;
    await eventually(isEnded, "the end of the second login");
  });

  it("refuses everything when a reload removes the key", async () => {
    const cookie = cookieIn(await logIn(port, KEY));
    writeFileSync(workspace.path("gateway.yaml"), config(undefined, gatewayPort, "0.0.0.0:0"));
    const page = (headers: Record<string, string>) => ask(port, { headers });
    await eventually(async () => (await page({ cookie })).status === 503 || null, "the reload");
    expect((await page({})).text).toContain("config.admin has no key");
    writeFileSync(workspace.path("gateway.yaml"), config(admin, gatewayPort, "0.0.0.0:0"));
    await eventually(async () => (await page({ cookie })).status === 200 || null, "the key");
  });

  it("keys cannot be guessed quickly, and each guess is in the audit log", async () => {
    const cookie = cookieIn(await logIn(port, KEY));
    const statuses: (number | undefined)[] = [];
    for (let index = 0; index < 15; index++)
      statuses.push((await logIn(port, `guess-of-many-${index}`)).status);
    expect(statuses[0]).toBe(401);
    expect(statuses.at(-1)).toBe(429);
    // The right key has to wait as well; open logins do not.
    const waiting = await logIn(port, KEY);
    expect(waiting.status).toBe(429);
    expect(Number(waiting.headers["retry-after"])).toBeGreaterThan(0);
    expect((await ask(port, { headers: { cookie } })).status).toBe(200);
    const lines = readFileSync(workspace.path("a.log"), "utf8");
    expect(lines).toContain('"event":"admin-login","listener":"admin-page","src.addr":"127.0.0.1"');
    expect(lines).toContain('"reason":"APIKeyAuth"');
    expect(lines).not.toContain(KEY);
    expect(lines).not.toContain("guess-of");
  });

  it("a body that never ends is not read", async () => {
    const body = `key=${"x".repeat(100_000)}`;
    const headers = { origin: `http://127.0.0.1:${port}`, ...form };
    const found = await ask(port, { method: "POST", path: "/ui/login", body, headers });
    expect(found.status).toBe(413);
  });
});

it.each([
  [undefined, "0.0.0.0:0", /admin page: http:\/\/127\.0\.0\.1:/],
  [{ key: { file: "absent.key" } }, "0.0.0.0:0", /no admin page on 0\.0\.0\.0:0: .*no such file/],
  [{ key: { file: "short.key" } }, any, /no admin page on .*is too short/],
])("a page that everybody could read is not opened: %j on %s", async (admin, address, said) => {
  const workspace = new Workspace({
    "short.key": "secret",
    "gateway.yaml": config(admin, await freePort(), address),
  });
  await new GwcProcess(["run", workspace.path("gateway.yaml")]).seen(said);
});

it("the variable ADMIN_ADDR opens no page beyond loopback without a key", async () => {
  const workspace = new Workspace({ "gateway.yaml": config(undefined, await freePort(), any) });
  const env = { ADMIN_ADDR: "0.0.0.0:0" };
  const gateway = new GwcProcess(["run", workspace.path("gateway.yaml")], { env });
  await gateway.seen(
    /no admin page on 0\.0\.0\.0:0: without `config\.admin\.key` the page is served/,
  );
});

it("a route of the gateway protects the page as it protects other servers", async () => {
  const [port, adminPort] = [await freePort(), await freePort()];
  const workspace = new Workspace({
    "users.htpasswd": "eve:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n",
    "gateway.yaml": JSON.stringify({
      config: {
        ...{ statsAddr: any, readinessAddr: any, adminAddr: `127.0.0.1:${adminPort}` },
        admin: { hostnames: ["admin.example.com"] },
      },
      gateways: { default: { port } },
      routes: [
        {
          name: "admin",
          hostnames: ["admin.example.com"],
          policies: { basicAuth: { htpasswd: { file: "users.htpasswd" } } },
          backends: [{ host: `127.0.0.1:${adminPort}` }],
        },
      ],
    }),
  });
  await startAdmin(workspace.path("gateway.yaml"));
  const host = "admin.example.com";
  expect((await ask(port, { host })).status).toBe(401);
  const authorization = `Basic ${Buffer.from("eve:password").toString("base64")}`;
  const page = await ask(port, { host, headers: { authorization } });
  expect(page.status).toBe(200);
  const [, key = ""] = /gwc-page-key" content="([^"]+)/.exec(page.text) ?? [];
  const can = (origin: string) =>
    ask(port, {
      ...{ method: "POST", path: "/ui/api/can", host, body: "{}" },
      headers: { authorization, origin, "content-type": "application/json", "x-gwc-page": key },
    });
  // 400: the question is malformed, but it may be asked.
  expect((await can("https://admin.example.com")).status).toBe(400);
  expect((await can("https://evil.test")).status).toBe(403);
});

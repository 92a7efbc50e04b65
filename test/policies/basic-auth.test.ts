import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, type Echoed, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

/** Made by `openssl passwd -apr1` and by the C library's crypt(3); each password is `pass-NAME`. */
const users = {
  apr1: "$apr1$abcdefgh$B3yT3tgxouZ4.AiSArvHf.",
  bcrypt: "$2y$08$abcdefghijklmnopqrstuujpJdAP1Y8i/tKjKxHlJ.5s7zIwlMlL6",
  bcrypt12: "$2b$12$abcdefghijklmnopqrstuu4bAsjtBKTUPtvkOYYN.yZ/kdJBuxWDy",
  sha: "{SHA}DAQZCQEbf+4ltq84dNFKcCdGjl4=",
  crypt: "abVfp.VAtiLSs",
};

let gateway: Gateway;
let upstream: Echo;
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder();
  const text = Object.entries(users)
    .map(([name, hash]) => `${name}:${hash}`)
    .join("\n");
  writeFileSync(join(folder, "htpasswd"), `# users\n\n${text}\n`);
  process.env.GWC_TEST_USERS = `late:${users.sha}`;
  upstream = await startEcho();
  const htpasswd = { file: join(folder, "htpasswd") };
  gateway = await startRoutes(
    {
      strict: { policies: { basicAuth: { htpasswd, realm: 'The "inner" part' } } },
      cluster: { policies: { basicAuthentication: { htpasswd } } },
      late: { policies: { basicAuth: { htpasswd: "${GWC_TEST_USERS}" } } },
      optional: { policies: { basicAuth: { mode: "optional", htpasswd } } },
      permissive: { policies: { basicAuth: { mode: "permissive", htpasswd } } },
      ruled: {
        policies: {
          basicAuth: { mode: "optional", htpasswd },
          authorization: { rules: ['basicAuth.username == "sha"'] },
        },
      },
    },
    upstream,
  );
});

afterAll(async () => {
  delete process.env.GWC_TEST_USERS;
});

const login = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
const status = async (route: string, headers: Record<string, string>) =>
  (await call(`${gateway.url}/${route}`, headers)).status;

describe("basicAuth", () => {
  it.each(Object.keys(users))(
    "a %s hash lets its password in, and no other",
    async (name) => {
      expect(await status("strict", login(name, `pass-${name}`))).toBe(200);
      expect(await status("strict", login(name, `pass-${name.slice(1)}`))).toBe(401);
      expect(await status("strict", login(name, ""))).toBe(401);
      expect(await status("cluster", login(name, `pass-${name}`))).toBe(200);
    },
    120_000,
  );

  it("who fails is asked for a login", async () => {
    const { status: found, headers } = await call(`${gateway.url}/strict`, {});
    expect(found).toBe(401);
    expect(headers["www-authenticate"]).toBe('Basic realm="The \\"inner\\" part", charset="UTF-8"');
    const { headers: defaults } = await call(`${gateway.url}/late`, login("late", "wrong"));
    expect(defaults["www-authenticate"]).toBe('Basic realm="Restricted", charset="UTF-8"');
  });

  it("users may come from the environment", async () => {
    expect(await status("late", login("late", "pass-sha"))).toBe(200);
    expect(await status("late", login("sha", "pass-sha"))).toBe(401);
  });

  it("malformed logins are no logins", async () => {
    const basic = (value: string) => ({ authorization: `Basic ${value}` });
    const encoded = (text: string) => basic(Buffer.from(text).toString("base64"));
    expect(await status("strict", basic("%%%"))).toBe(401);
    expect(await status("strict", encoded("nocolon"))).toBe(401);
    expect(await status("strict", encoded("sha:pass-sha\u0000"))).toBe(401);
    expect(await status("strict", encoded(`sha:${"x".repeat(20_000)}`))).toBe(401);
    expect(await status("strict", { authorization: "Bearer abc" })).toBe(401);
  });

  it("the login does not reach the upstream", async () => {
    const response = await call(`${gateway.url}/strict`, login("sha", "pass-sha"));
    const { headers }: Echoed = JSON.parse(response.body);
    expect(headers).not.toHaveProperty("authorization");
  });

  it("the modes differ in what they refuse", async () => {
    expect(await status("optional", {})).toBe(200);
    expect(await status("optional", login("sha", "wrong"))).toBe(401);
    expect(await status("permissive", login("sha", "wrong"))).toBe(200);
  });

  it("rules read the user's name", async () => {
    expect(await status("ruled", login("sha", "pass-sha"))).toBe(200);
    expect(await status("ruled", login("apr1", "pass-apr1"))).toBe(403);
    expect(await status("ruled", {})).toBe(403);
  });

  it("bcrypt is paid once for a login", async () => {
    const time = async (password: string, times: number, expected: number): Promise<number> => {
      const start = performance.now();
      for (let count = 0; count < times; count++) {
        expect(await status("strict", login("bcrypt12", password))).toBe(expected);
      }
      return performance.now() - start;
    };
    await time("pass-bcrypt12", 1, 200);
    // A wrong password is checked each time: thirty checks would take thirty times as long.
    const one = await time("wrong", 1, 401);
    expect(await time("pass-bcrypt12", 30, 200)).toBeLessThan(10 * one);
  }, 120_000);

  it("others are served while logins are checked, and waiting ones are bounded", async () => {
    let checked = 0;
    const wrong = Array.from({ length: 80 }, (_, index) =>
      status("strict", login("bcrypt", `wrong-${index}`)).finally(() => {
        checked++;
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await status("optional", {})).toBe(200);
    expect(checked).toBeLessThan(wrong.length);
    const found = await Promise.all(wrong);
    expect(found.filter((each) => each === 401).length).toBeGreaterThan(32);
    expect(found.every((each) => each === 401 || each === 503)).toBe(true);
  });

  it("a changed file counts for logins that were right before", async () => {
    expect(await status("strict", login("sha", "pass-sha"))).toBe(200);
    writeFileSync(join(folder, "htpasswd"), `apr1:${users.apr1}\n`);
    while ((await status("strict", login("sha", "pass-sha"))) !== 401) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await status("strict", login("apr1", "pass-apr1"))).toBe(200);
  });

  it("hashes that are written out are a warning", () => {
    const inline = { policies: { basicAuth: { htpasswd: `a:${users.sha}` } } };
    expect(findings(inline)).toEqual(["literal-password-hash"]);
    const late = { policies: { basicAuth: { htpasswd: "${USERS}" } } };
    expect(findings(late)).toEqual([]);
  });
});

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { gwc, installedGwc } from "../harness/gwc.ts";
import { describeUnless } from "../harness/skip.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";

const jwks =
  '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}';
const jwtAuth = {
  issuer: "https://id.example.com",
  audiences: ["tools"],
  jwks: { file: "jwks.json" },
};
const target = (name: string) => ({ name, mcp: { host: "http://127.0.0.1:9/mcp" } });
const rules = [
  { require: "jwt.mfa == true" },
  { deny: "jwt.suspended == true" },
  { deny: 'mcp.tool.name == "drop" && jwt.sub != "root"' },
  '"admin" in jwt.roles',
  'jwt.sub == "ann" && mcp.tool.name == "search"',
  'mcp.tool.name == "status" && request.headers["x-env"] == "dev"',
];
const toolRoute = {
  name: "tools",
  matches: [{ path: { pathPrefix: "/mcp" } }],
  policies: { jwtAuth, mcpAuthorization: { rules } },
  backends: [{ mcp: { targets: [target("files")] } }],
};
const paths = {
  name: "shop",
  matches: [{ path: { pathPrefix: "/shop" } }],
  policies: {
    jwtAuth,
    authorization: {
      rules: [
        { deny: 'request.path.startsWith("/shop/admin") && jwt.sub != "root"' },
        "jwt.sub != null",
      ],
    },
  },
  backends: [{ host: "127.0.0.1:9" }],
};
const file = (...routes: readonly object[]) =>
  JSON.stringify({ gateways: { default: { port: 3000 } }, routes });
const test = `tests:
  - name: ann searches
    as: {jwt: {sub: ann, mfa: true}}
    route: tools
    tool: search
    expect: {status: 200}
`;

interface Cell {
  readonly row: { readonly can: string; readonly name: string };
  readonly as: string;
  readonly outcome: string;
  /** Outcome in the base, if it was another. */
  readonly was: string | undefined;
}

/** Reads the cells of a page as a reader of its HTML would. */
function cellsOf(page: string): readonly Cell[] {
  return [...page.matchAll(/<section class="matrix"[\s\S]*?<\/section>/g)].flatMap(([section]) => {
    const columns = [...section.matchAll(/<th scope="col" data-key[^>]* data-can="([^"]*)"/g)];
    const rows = [
      ...section.matchAll(/<tr data-request="[^"]*" data-can="([^"]*)">([\s\S]*?)<\/tr>/g),
    ];
    return rows.flatMap(([, can = "", row = ""]) => {
      const name = unescaped(/<code>(.*?)<\/code>/.exec(row)?.[1] ?? "");
      const cells = row.matchAll(/<td class="(\w+)(?: changed" data-was="(\w+): [^"]*)?">/g);
      return [...cells].map(([, outcome = "", was], index) => ({
        row: { can: unescaped(can), name },
        as: unescaped(columns[index]?.[1] ?? ""),
        outcome,
        was,
      }));
    });
  });
}

function unescaped(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function workspace(more: Readonly<Record<string, string>> = {}): Workspace {
  return new Workspace({
    "gateway.yaml": file(toolRoute, paths),
    "jwks.json": jwks,
    "access.test.yaml": test,
    ...more,
  });
}

async function pageOf(
  { folder }: Pick<Workspace, "folder">,
  ...argv: readonly string[]
): Promise<string> {
  const { code, stdout, stderr } = await gwc(["review", "-o", "-", ...argv], { cwd: folder });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

function git(folder: string, ...argv: readonly string[]): void {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  execFileSync(program("git"), [...who, ...argv], { cwd: folder });
}

/** A workspace whose files are committed. */
function gitWorkspace(): { readonly folder: string; readonly write: Workspace["write"] } {
  const made = workspace();
  git(made.folder, "init", "-q");
  git(made.folder, "add", "-A");
  git(made.folder, "commit", "-qm", "base");
  return { folder: made.folder, write: (name, text) => made.write(name, text) };
}

describe("gwc review", () => {
  it("answers every cell of a tool as gwc can does", async () => {
    const made = workspace();
    const cells = cellsOf(await pageOf(made)).filter(({ row }) => row.can.startsWith("call tool"));
    expect(new Set(cells.map(({ outcome }) => outcome))).toEqual(new Set(["yes", "no", "depends"]));
    for (const { row, as, outcome } of cells) {
      const argv = execFileSync("/bin/sh", ["-c", `printf '%s\\n' ${row.can} ${as}`], {
        encoding: "utf8",
      });
      const { stdout } = await gwc(["can", ...argv.trimEnd().split("\n")], { cwd: made.folder });
      // A header that is not sent is known to gwc can, and open to the review.
      const said = /^(yes|no|it depends)/.exec(stdout)?.[1]?.replace("it depends", "depends");
      if (outcome !== "depends") expect([row.name, as, said]).toEqual([row.name, as, outcome]);
    }
  });

  it("has a column for each class of callers that rules distinguish", async () => {
    const page = await pageOf(workspace());
    const columns = [...page.matchAll(/data-who="([^"]*)"/g)].map(([, who = ""]) => unescaped(who));
    expect(columns.slice(0, 7)).toEqual([
      "no credentials",
      "any valid token",
      "token: jwt.mfa == true",
      'token: not jwt.sub != "root"',
      "token: jwt.suspended == true",
      'token: jwt.sub != "root"',
      'token: "admin" in jwt.roles, jwt.mfa == true',
    ]);
  });

  it("shows an executed request for each outcome of a cell that depends on headers", async () => {
    const page = unescaped(await pageOf(workspace()));
    const [, entry = ""] =
      /<li class="entry" id="rule-\d+"><p><span class="tag depends">depends([\s\S]*?)<\/li>/.exec(
        page,
      ) ?? [];
    expect(entry).toContain('request.headers["x-env"] == "dev"');
    expect(entry).toContain('tools/call status  x-env: dev  as {"mfa":true');
    expect(entry).toMatch(/tools\/call status {2}(x-env: \w* {2})?as \{"mfa":true.*: refused/);
  });

  it("names the rule of a cell with its file and line", async () => {
    const { folder } = new Workspace({
      "jwks.json": jwks,
      "gateway.yaml": `gateways: {default: {port: 3000}}
routes:
  - name: tools
    policies:
      mcpAuthorization:
        rules:
          - mcp.tool.name == "search"
    backends: [{mcp: {targets: [{name: files, mcp: {host: "http://127.0.0.1:9/mcp"}}]}}]
`,
    });
    const { stdout } = await gwc(["review", "-o", "-"], { cwd: folder });
    expect(unescaped(stdout)).toMatch(
      /allowed by mcp\.tool\.name == "search"[\s\S]*?gateway\.yaml:7:13[\s\S]*?tools\/call search: allowed/,
    );
  });

  it("has a row for each tool that a rule lists, also if rules treat them alike", async () => {
    const listed = ['mcp.tool.name in ["search", "status", "sum"]'];
    const open = { ...toolRoute, policies: { mcpAuthorization: { rules: listed } } };
    const cells = cellsOf(await pageOf(new Workspace({ "gateway.yaml": file(open) })));
    expect(cells.map(({ row, outcome }) => `${row.name}: ${outcome}`)).toEqual([
      "search: yes",
      "status: yes",
      "sum: yes",
      "any other tool: no",
      "any prompt: no",
      "any resource: no",
    ]);
  });

  it("distinguishes paths below a prefix that rules name", async () => {
    const cells = cellsOf(await pageOf(workspace())).filter(({ row }) =>
      row.name.startsWith("/shop"),
    );
    const admin = cells.filter(({ row }) => row.name.startsWith("/shop/admin"));
    expect(admin.map(({ outcome }) => outcome)).toContain("yes");
    expect(admin.map(({ outcome }) => outcome)).toContain("no");
  });

  it("decides which models of the llm section a class of callers may use", async () => {
    const model = (name: string, more: object) => ({
      ...{ name, provider: "openAI", params: { apiKey: "$KEY" } },
      ...more,
    });
    const { folder } = new Workspace({
      "jwks.json": jwks,
      "gateway.yaml": JSON.stringify({
        gateways: { default: { port: 3000 } },
        llm: {
          policies: { jwtAuth },
          models: [
            model("small", {}),
            model("large", { authorization: { rules: ['jwt.team == "research"'] } }),
          ],
        },
      }),
    });
    const { stdout, stderr } = await gwc(["review", "-o", "-"], { cwd: folder });
    const cells = cellsOf(stdout).map(({ row, as, outcome }) => [row.name, as, outcome]);
    expect(cells, stderr).toEqual([
      ["small", "", "no"],
      ["small", '--as "{}"', "yes"],
      ["small", '--as "{\\"team\\":\\"research\\"}"', "yes"],
      ["large", "", "no"],
      ["large", '--as "{}"', "no"],
      ["large", '--as "{\\"team\\":\\"research\\"}"', "yes"],
    ]);
  });

  it("shows what changed since a git revision", async () => {
    const { folder, write } = gitWorkspace();
    write("gateway.yaml", file({ ...toolRoute, policies: { jwtAuth } }, paths));
    const page = unescaped(await pageOf({ folder }, "--base", "HEAD"));
    expect(page).toContain('<span class="tag opens">OPENS</span> route tools (:3000 /mcp)');
    expect(page).toContain('<span class="tag warning">');
  });

  it("marks the cells with another decision than in the base, and no others", async () => {
    const tool = (...own: readonly (string | object)[]) => ({
      ...toolRoute,
      policies: { jwtAuth, mcpAuthorization: { rules: own } },
    });
    const [search, status] = ['mcp.tool.name == "search"', 'mcp.tool.name == "status"'];
    const made = workspace({
      "old.yaml": file(tool(status, `jwt.sub == "ann" && ${search}`), paths),
      "gateway.yaml": file(tool(search), paths),
    });
    const page = await pageOf(made, "--base", "old.yaml");
    const changed = cellsOf(page).filter(({ was }) => was !== undefined);
    expect(changed.map(({ row, as, outcome, was }) => [row.name, as, outcome, was])).toEqual([
      ["search", '--as "{}"', "yes", "no"],
      // Neither this row nor the class of Ann is named by the rules of today.
      ["status", '--as "{}"', "no", "yes"],
      ["status", '--as "{\\"sub\\":\\"ann\\"}"', "no", "yes"],
    ]);
    expect(page).toContain("3 changed cells");
  });

  it("marks the cells of a route that the base does not have", async () => {
    const made = workspace({ "old.yaml": file(paths), "gateway.yaml": file(toolRoute, paths) });
    const cells = cellsOf(await pageOf(made, "--base", "old.yaml"));
    const ofTools = cells.filter(({ row }) => row.can !== "");
    expect(new Set(ofTools.map(({ was }) => was))).toEqual(new Set(["absent"]));
    expect(cells.filter(({ row }) => row.can === "").flatMap(({ was }) => was ?? [])).toEqual([]);
  });

  it("compares with a file", async () => {
    const made = workspace({ "old.yaml": file(paths) });
    expect(await pageOf(made, "--base", "old.yaml")).toContain(
      "Changes <small>since old.yaml</small>",
    );
  });

  it("refuses a base that is neither a revision nor a path", async () => {
    const { folder } = workspace();
    const { code, stderr } = await gwc(["review", "--base", "gone"], { cwd: folder });
    expect([code, stderr]).toEqual([
      2,
      'error: "gone" is neither a git revision nor a file or folder\n',
    ]);
  });

  it("refuses a base that is a revision and a path", async () => {
    const { folder, write } = gitWorkspace();
    git(folder, "branch", "old.yaml");
    write("old.yaml", file(paths));
    const { code, stderr } = await gwc(["review", "--base", "old.yaml"], { cwd: folder });
    expect([code, stderr]).toEqual([
      2,
      'error: "old.yaml" is a git revision and a path\nhint: write ./old.yaml for the path, or refs/heads/old.yaml for the branch\n',
    ]);
  });

  it("writes no page about an invalid configuration", async () => {
    const { folder } = new Workspace({ "gateway.yaml": "routes: [{name: 1}]" });
    const { code, stderr } = await gwc(["review"], { cwd: folder });
    expect([code, stderr.includes("error")]).toEqual([1, true]);
    expect(existsSync(path.join(folder, "review.html"))).toBe(false);
  });

  it("shows results and coverage of tests, and the reasons of accepted findings", async () => {
    const message = "port 3000 accepts credentials without TLS, on every address";
    const made = workspace({
      ".gwc-audit.yaml": JSON.stringify({
        accepted: [{ code: "credentials-in-clear", message, reason: "behind a proxy" }],
      }),
    });
    const page = await pageOf(made);
    expect(page).toContain("1 passed, 0 failed; covered: 1 of 2 routes");
    expect(page).toContain("<dt>accepted</dt><dd>behind a proxy</dd>");
    expect(page).toContain("no test reaches it");
  });

  it("says in its summary that tests with mistakes were not run", async () => {
    const made = workspace({ "other.test.yaml": "tests: [{ nmae: a }]\n" });
    expect(await pageOf(made)).toContain("failed, some not run because of mistakes; covered");
  });

  it("contains no literal secret of the configuration", async () => {
    const secret = "s3cret-value-of-a-key";
    const policies = { apiKey: { keys: [{ key: secret, metadata: { name: "ann" } }] } };
    const made = workspace({
      "gateway.yaml": file({ ...paths, policies }),
      "access.test.yaml": "tests: []\n",
    });
    expect(await pageOf(made)).not.toContain(secret);
  });

  it("is written by the installed package", () => {
    const { folder } = workspace();
    const { code, stderr } = installedGwc(["review"], { cwd: folder });
    expect([code, stderr]).toEqual([0, "wrote review.html\n"]);
    expect(readFileSync(path.join(folder, "review.html"), "utf8")).toContain("<!doctype html>");
  });
});

const HOSTILE = `"><img src=x onerror=alert(1)></script><script>alert(2)</script>\u202e`;

describeUnless(missingBrowser)("the page of gwc review", () => {
  let page: Page;
  let problems: string[];
  let requests: string[];

  beforeAll(async () => {
    const hostile = {
      ...toolRoute,
      name: HOSTILE,
      matches: [{ path: { pathPrefix: "/hostile" } }],
      policies: {
        jwtAuth,
        mcpAuthorization: { rules: [`mcp.tool.name == ${JSON.stringify(HOSTILE)}`] },
      },
    };
    const old = {
      ...toolRoute,
      policies: { jwtAuth, mcpAuthorization: { rules: rules.slice(0, 4) } },
    };
    const made = workspace({
      "old.yaml": file(old, paths, hostile),
      "gateway.yaml": file(toolRoute, paths, hostile),
    });
    const { folder } = made;
    const { code, stderr } = await gwc(["review", "--base", "old.yaml"], { cwd: folder });
    expect(code, stderr).toBe(0);
    const browser = await startBrowser();
    page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
    problems = [];
    requests = [];
    page.on("console", (message) => problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("dialog", (dialog) => {
      problems.push(dialog.message());
      return dialog.dismiss();
    });
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(`file://${path.join(folder, "review.html")}`);
  });

  it("loads nothing, violates no policy and runs nothing of the configuration", () => {
    expect(problems).toEqual([]);
    expect(requests.map((url) => path.basename(url))).toEqual(["review.html"]);
  });

  it("shows markup and reordering characters of the configuration as text", async () => {
    const shown = HOSTILE.replace("\u202e", "\\u{202e}");
    expect(await page.locator("h3", { hasText: shown }).count()).toBe(1);
    expect(await page.content()).not.toContain("\u202e");
  });

  it("allows no inline script but its own", async () => {
    await page.evaluate(`
      const script = document.createElement("script");
      script.textContent = "document.title = 'injected'";
      document.body.append(script);
    `);
    expect(await page.title()).not.toBe("injected");
    expect(problems.splice(0).join("\n")).toContain("Content Security Policy");
  });

  it("filters rows by name, by callers and by outcome", async () => {
    const rows = page.locator("#route-0 tbody tr:visible");
    await page.keyboard.press("/");
    await page.keyboard.type("search");
    await expect.poll(() => rows.count()).toBe(1);
    await page.selectOption("#subject", { label: "no credentials" });
    await expect.poll(() => page.locator("#route-0 thead th:visible").count()).toBe(2);
    await page.selectOption("#outcome", "yes");
    await expect.poll(() => rows.count()).toBe(0);
    await page.selectOption("#outcome", "");
    await page.selectOption("#subject", "");
    await page.fill("#search", "");
  });

  it("shows only changed cells' rows and columns if asked to", async () => {
    const rows = page.locator("#route-0 tbody tr:visible");
    const all = await rows.count();
    await page.check("#changed");
    expect(await rows.count()).toBeLessThan(all);
    expect(await page.locator("#route-0 tbody tr:visible:not(:has(td.changed))").count()).toBe(0);
    expect(await page.locator("#route-1").isVisible()).toBe(false);
    await page.locator("td.changed a:visible").first().click();
    expect(await page.locator("dialog").innerText()).toMatch(/before\s+no: no rule allows it/);
    await page.keyboard.press("Escape");
    await page.uncheck("#changed");
    expect(await rows.count()).toBe(all);
  });

  it("opens a cell with the keyboard, and closes it", async () => {
    await page.locator("#route-0 tbody td a").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    const text = await page.locator("dialog").innerText();
    expect(text).toContain("any valid token");
    expect(text).toContain("gateway.yaml:1:");
    expect(text).toContain("repeat with");
    await page.keyboard.press("Escape");
    expect(await page.locator("dialog").isVisible()).toBe(false);
  });

  it("has no content that is wider than a phone", async () => {
    await page.setViewportSize({ width: 360, height: 700 });
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(360);
    await page.setViewportSize({ width: 1100, height: 800 });
  });

  it.each([360, 1100])(
    "hides no heading that a link leads to behind its filter: %d wide",
    async (width) => {
      await page.setViewportSize({ width, height: 700 });
      for (const name of ["Findings", "Access"]) {
        await page.locator("nav a", { hasText: name }).click();
        const heading = `document.getElementById("${name.toLowerCase()}-title")`;
        const isSeen = await page.evaluate(`
          const { left, top } = ${heading}.getBoundingClientRect();
          document.elementFromPoint(left + 5, top + 5) === ${heading};
        `);
        expect([name, isSeen]).toEqual([name, true]);
      }
      await page.setViewportSize({ width: 1100, height: 800 });
    },
  );

  it("opens a cell by a click next to its word", async () => {
    const cell = page.locator("#route-0 tbody td").first();
    const { width = 0, height = 0 } = (await cell.boundingBox()) ?? {};
    await cell.click({ position: { x: width - 3, y: height - 3 } });
    expect(await page.locator("dialog").isVisible()).toBe(true);
    await page.keyboard.press("Escape");
  });

  it("hides sections without an entry that has the words", async () => {
    await page.fill("#search", "no such words anywhere");
    expect(await page.locator("#findings").isVisible()).toBe(false);
    await page.fill("#search", "");
    expect(await page.locator("#findings").isVisible()).toBe(true);
  });

  it("has other colors in the dark", async () => {
    const color = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await color();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await color()).not.toBe(light);
    await page.emulateMedia({ colorScheme: "light" });
  });

  it("is printed without the filter and with all rows", async () => {
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("#filters").isVisible()).toBe(false);
    expect(await page.locator("#route-0 tbody tr").last().isVisible()).toBe(true);
    await page.emulateMedia({ media: "screen" });
  });
});

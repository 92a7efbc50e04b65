import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { memoryHost, realHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import { type DiffFormat, diffReport } from "../../compiler/inspect/diff/report/diff-report.ts";
import { writtenPage } from "../../compiler/inspect/reference/guides.ts";
import type { Program } from "../../compiler/ir/program.ts";
import { gwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";
import { diffOf, firstLine } from "./diff-of.ts";

const base = `binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            matches: [{path: {pathPrefix: /mcp}}]
            policies:
              cors: {allowOrigins: ["https://app.example.com"]}
              jwtAuth: {issuer: "https://id.example.com", audiences: [tools], jwks: {url: "https://id.example.com/keys"}}
              mcpAuthorization:
                rules:
                  - jwt.sub == "ann" && mcp.tool.name == "get-sum"
                  - '"admin" in jwt.roles && mcp.tool.name.startsWith("get-")'
                  - deny: mcp.tool.name == "get-env"
            backends: [{mcp: {targets: [{name: files, mcp: {host: "http://127.0.0.1:9/mcp"}}]}}]
          - name: api
            matches: [{path: {pathPrefix: /api}}]
            policies: {authorization: {rules: ['request.headers["x-team"] == "blue"']}, timeout: {requestTimeout: 10s}}
            backends: [{host: "127.0.0.1:9"}]
`;

/** The same with a model behind its second route. */
const modelled = base.replace('{host: "127.0.0.1:9"}', "{ai: {provider: {openAI: {}}}}");

function diffWith(change: (text: string) => string, format: DiffFormat = "text"): string {
  const changed = change(base);
  expect(changed).not.toBe(base);
  return diffOf(base, changed, format);
}

describe("the first line of gwc diff says what a pull request does", () => {
  it("rewriting, re-quoting and reordering rules changes nothing", () => {
    const said = diffWith((text) =>
      text
        .replace(
          'jwt.sub == "ann" && mcp.tool.name == "get-sum"',
          `'mcp.tool.name == "get-sum" && !(jwt.sub != "ann")'`,
        )
        .replace("port: 3000", '"port": 3000 # the port'),
    );
    expect(said).toBe(
      "no request is treated differently: 1 route changed in text, decided exactly\n",
    );
  });

  it("renaming a route changes nothing, nor does writing its rules in another way as well", () => {
    const renamed = (text: string) => text.replace("name: api", "name: shop");
    expect(firstLine(diffWith(renamed))).toBe("no request is treated differently");
    const rewritten = (text: string) =>
      renamed(text).replace(
        'request.headers["x-team"] == "blue"',
        '!(request.headers["x-team"] != "blue")',
      );
    expect(firstLine(diffWith(rewritten))).toBe(
      "no request is treated differently: 1 route changed in text, decided exactly",
    );
  });

  it("one widened rule opens access, with who may do what now, and a call that shows it", () => {
    expect(
      diffWith((text) =>
        text.replace('mcp.tool.name == "get-sum"', 'mcp.tool.name.startsWith("get-")'),
      ),
    ).toBe(`1 difference: 1 OPENS: route tools (:3000 /mcp), hidden -> callable

OPENS   route tools (:3000 /mcp)   hidden -> callable
        when    jwt.sub == "ann", mcp.tool.name.startsWith("get-")
        unless  mcp.tool.name == "get-sum", "admin" in jwt.roles, mcp.tool.name == "get-env"
        by      new.yaml:12:21  jwt.sub == "ann" && mcp.tool.name.startsWith("get-")
        was     no rule allowed it
        e.g.    tools/call get-x  as {"sub":"ann"}
`);
  });

  it("lost CORS closes", () => {
    const said = diffWith((text) => text.replace(/ +cors: .*\n/, ""));
    expect(firstLine(said)).toBe("1 difference: 1 CLOSES: route tools (:3000 /mcp), cors removed");
    expect(said).toContain("base old.yaml:8:21  cors  (removed)");
  });

  it("a new port opens, and says that nothing guards it", () => {
    const port = `  - port: 8080\n    listeners: [{routes: [{backends: [{host: "debug.internal:80"}]}]}]\n`;
    const said = diffWith((text) => text + port);
    expect(firstLine(said)).toBe(
      "1 difference: 1 OPENS: port 8080 (new), nothing listened -> served by http://debug.internal:80",
    );
    expect(said).toContain("nothing listened -> served by http://debug.internal:80");
    expect(said).toContain("always: no authentication, no rules");
  });

  it("another server is a change", () => {
    const said = diffWith((text) =>
      text.replace("http://127.0.0.1:9/mcp", "http://127.0.0.2:9/mcp"),
    );
    expect(firstLine(said)).toMatch(/^1 difference: 1 CHANGES: route tools .*, goes to files /);
    expect(said).toContain(
      "goes to files streamable: http://127.0.0.1:9/mcp -> files streamable: http://127.0.0.2:9/mcp",
    );
  });

  it("another provider of models is a change, which comes before the credentials that it needs", () => {
    const keyed = (
      provider: string,
    ) => `${base.split("          - name: api")[0]}          - name: chat
            backends: [{ai: {name: chat, provider: {${provider}}, policies: {backendAuth: {key: "\${${provider.split(":")[0]}_KEY}"}}}}]
`;
    const [before, after] = ["openAI: {model: gpt-4o}", "anthropic: {model: claude}"].map(keyed);
    const line =
      "3 differences: 3 CHANGE: route chat (:3000 /), goes to chat (gpt-4o) https://api.openai.com -> chat (claude) https://api.anthropic.com; and 2 more";
    const said = (format: DiffFormat) => diffOf(before ?? "", after ?? "", format);
    expect(firstLine(said("text"))).toBe(line);
    expect(firstLine(said("markdown"))).toBe(`### ${line}`);
    expect(firstLine(said("github"))).toContain(line);
    expect(JSON.parse(said("json")).verdict).toBe(line);
    expect(JSON.parse(said("sarif")).runs[0].results[0].message.text).toMatch(
      /^CHANGES route chat \(:3000 \/\): goes to chat \(gpt-4o\) .* -> chat \(claude\)/,
    );
    expect(said("text")).toContain("needs the variable anthropic_KEY");
  });

  it("a removed deny rule opens, and names the rule that denied", () => {
    const said = diffWith((text) => text.replace(/ +- deny: .*\n/, ""));
    expect(firstLine(said)).toMatch(/^1 difference: 1 OPENS: route tools .*, hidden -> callable$/);
    expect(said).toContain('when    "admin" in jwt.roles, mcp.tool.name == "get-env"');
    expect(said).toContain('was     denied by mcp.tool.name == "get-env"  (base old.yaml:14:27)');
  });

  it("an optional token opens only what the rules give to nobody", () => {
    const optional = (text: string) => text.replace("jwtAuth: {", "jwtAuth: {mode: optional, ");
    const said = diffWith((text) =>
      optional(text).replace("- deny", "- mcp.tool.name == 'echo'\n                  - deny"),
    );
    expect(said).toContain("401 -> served\n        when    jwt == null, no item");
    expect(said).toContain('hidden -> callable\n        when    mcp.tool.name == "echo"');
    expect(said).toContain("was     refused without jwt");
  });

  it("an issuer and an audience added, an origin widened open", () => {
    const said = diffWith((text) =>
      text
        .replace("audiences: [tools]", "audiences: [tools, more]")
        .replace("https://app.example.com", "*"),
    );
    expect(said).toContain("jwtAuth: audience of https://id.example.com more added");
    expect(said).toContain("cors: origin https://app.example.com widened to *");
  });

  it("a model added to a key's opens, and the first models of a key close", () => {
    const withKey = (models: string): string =>
      modelled.replace("timeout:", `apiKey: {keys: [{file: key${models}}]}, timeout:`);
    const [any, one, two] = ["", ", allowedModels: [fast]", ", allowedModels: [fast, slow]"];
    const added = diffOf(withKey(one), withKey(two));
    expect(added).toContain("key key: model slow added");
    expect(diffOf(withKey(any), withKey(one))).toContain("key key: only the models fast");
  });

  it("a route that takes another one's requests is said with a request, a shorter timeout with its times", () => {
    const route = `          - name: fast\n            matches: [{path: {exact: /api/x}}]\n            backends: [{host: "127.0.0.1:10"}]\n`;
    const said = diffWith((text) => `${text.replace("10s", "5s")}${route}`);
    expect(said).toContain("OPENS   route fast (:3000 /api/x)   403 -> served");
    expect(said).toContain("served by route api -> route fast");
    expect(said).toContain("10000 -> 5000");
  });

  it.each(["json", "markdown", "sarif", "github"] as const)("as %s it says the same", (format) => {
    const said = diffWith((text) => text.replace(/ +- deny: .*\n/, ""), format);
    expect(said).toContain("hidden -> callable");
    if (format === "json" || format === "sarif") expect(() => JSON.parse(said)).not.toThrow();
    if (format === "github") expect(said).toContain("::warning file=new.yaml,line=13,");
  });
});

it("the page of gwc diff has the first lines of five pull requests", () => {
  const edits: readonly ((text: string) => string)[] = [
    (text) => text.replace(/jwt.sub == "ann" && (.*)/, "'$1 && jwt.sub == \"ann\"'"),
    (text) => text.replace('name == "get-sum"', 'name.startsWith("get-")'),
    (text) => text.replace(/ +cors: .*\n/, ""),
    (text) =>
      `${text}  - {port: 8080, listeners: [{routes: [{backends: [{host: "debug:80"}]}]}]}\n`,
    (text) => text.replace('host: "127.0.0.1:9"}]', 'host: "127.0.0.2:9"}]'),
  ];
  const written = writtenPage("diff")?.parts.flatMap((part) =>
    part.kind === "table" && part.head[0] === "edit" ? part.rows : [],
  );
  expect(written?.map(([, line]) => line)).toEqual(
    edits.map((edit) => `\`${firstLine(diffWith(edit))}\``),
  );
});

describe("a bundle's manifest as a side", () => {
  const moved = base.replace("127.0.0.1:9/mcp", "127.0.0.2:9/mcp");

  async function sides(): Promise<Workspace> {
    const workspace = new Workspace({ "gateway.yaml": base });
    await gwc(["build", "--no-type-check"], { cwd: workspace.folder });
    return workspace;
  }

  it("solves rules, compares routes, servers and settings, and says nothing of what is the same", async () => {
    const workspace = await sides();
    const run = async () =>
      (await gwc(["diff", "out/gateway/manifest.json", "gateway.yaml"], { cwd: workspace.folder }))
        .stdout;
    expect(await run()).toBe("no request is treated differently\n");
    workspace.write("gateway.yaml", moved.replace('name == "get-sum"', 'name.startsWith("get-")'));
    const said = await run();
    expect(said).toContain('when    jwt.sub == "ann", mcp.tool.name.startsWith("get-")');
    expect(said).toContain("127.0.0.1:9/mcp -> files streamable: http://127.0.0.2:9/mcp");
    workspace.write("gateway.yaml", base.replace("pathPrefix: /api", "pathPrefix: /v1"));
    expect(await run()).toContain(
      "OPENS   route api (path prefix /v1)   match path prefix /v1 added",
    );
    workspace.write("gateway.yaml", base.replace("10s", "5s"));
    expect(await run()).toContain("timeout: settings changed");
  });

  it("refuses one of an older version, and one with an invalid rule", async () => {
    const workspace = await sides();
    const file = workspace.path("out/gateway/manifest.json");
    const run = () =>
      gwc(["diff", "out/gateway/manifest.json", "gateway.yaml"], { cwd: workspace.folder });
    const written = readFileSync(file, "utf8");
    workspace.write(
      "out/gateway/manifest.json",
      written.replace('mcp.tool.name == \\"get-env\\"', "mcp.("),
    );
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("its rule does not compile: mcp.("),
    });
    workspace.write("out/gateway/manifest.json", JSON.stringify({ gwc: "0.0.1", files: [] }));
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("manifests of gwc 0.0.1 have no summary"),
    });
  });
});

describe("gwc diff", () => {
  function repository(): { readonly folder: string; readonly write: (text: string) => void } {
    const workspace = new Workspace({ "gateway.yaml": base });
    const git = (...argv: readonly string[]) =>
      execFileSync(
        program("git"),
        ["-c", "user.name=t", "-c", "user.email=t@example.com", ...argv],
        {
          cwd: workspace.folder,
        },
      );
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("commit", "-q", "-m", "first");
    return { folder: workspace.folder, write: (text) => workspace.write("gateway.yaml", text) };
  }

  it("compares with a revision, and --exit-code tells what opens from what changes", async () => {
    const { folder, write } = repository();
    const run = () => gwc(["diff", "--git", "main", "--exit-code"], { cwd: folder });
    expect(await run()).toMatchObject({ code: 0, stdout: "no request is treated differently\n" });
    write(base.replace("10s", "5s"));
    expect((await run()).code).toBe(4);
    write(base.replace(/ +- deny: .*\n/, ""));
    expect((await run()).code).toBe(5);
    const named = (input: string) => ["diff", "--git", "main", input, "--exit-code"];
    expect((await gwc(named(join(folder, "gateway.yaml")), { cwd: folder })).code).toBe(5);
    expect((await gwc(named("."), { cwd: folder })).code).toBe(5);
    expect((await gwc(named(folder))).code).toBe(2);
  });

  it("reports the side that has mistakes, an unknown revision, and a missing file", async () => {
    const { folder, write } = repository();
    const run = (...argv: readonly string[]) => gwc(["diff", ...argv], { cwd: folder });
    expect(await run("--git", "nothing")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unknown git revision "nothing"'),
    });
    expect(await run("--git", "main", "gone.yaml")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the new configuration is invalid"),
    });
    write(base.replace("name: api", "nam: api"));
    expect(await run("--git", "main")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the new configuration is invalid"),
    });
  });
});

it("texts that differ in their spaces alone are different, and an example is a request for its route", () => {
  const spaced = diffWith((text) => text.replace('== "blue"', '== "deep  blue"'));
  expect(spaced).toContain("e.g.    GET /api  x-team: deep  blue");
  const rule = (text: string) => text.replace('== "blue"', '== "deep  blue"');
  const said = [base, rule(base), rule(base).replace("deep  blue", "deep blue")].map((text) => {
    const { program } = checkInput(["a.yaml"], memoryHost({ "a.yaml": text }), false);
    if (program === undefined) throw new Error("the base has mistakes");
    return program;
  });
  const [, old, now] = said;
  if (old === undefined || now === undefined) throw new Error("a side is missing");
  expect(reported(old, now)).toMatch(/^2 differences: 1 OPENS, 1 CLOSES: route api/);
});

it("rules with lists and bodies, whose code reads constants of the module, are compared", () => {
  const widened = diffWith((text) =>
    text.replace('["x-team"] == "blue"', '["x-team"] in ["blue", "green"]'),
  );
  expect(widened).toMatch(/^1 difference: 1 OPENS: .*\n/);
  const bodies = diffWith((text) =>
    text.replace('request.headers["x-team"] == "blue"', 'json(request.body).model in ["a", "b"]'),
  );
  expect(bodies).toContain('e.g.    GET /api  with the body {"model":"a"}');
  const longer = diffOf(
    base.replace('request.headers["x-team"] == "blue"', "size(json(request.body).text) < 1000"),
    base.replace('request.headers["x-team"] == "blue"', "size(json(request.body).text) < 2000"),
  );
  expect(longer).toContain("unless  size(json(request.body).text) < 1000");
  expect(longer).toMatch(/with the body \{"text":"x{51}\.\.\. \(\d+ characters\)/);
});

function reported(before: Program, after: Program): string {
  return diffReport("text", programDiff(before, after), { before: [], after: [] });
}

it("every example is the same as itself, and differs from the first one", () => {
  const programs = readdirSync(join(root, "examples"), { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory() || entry.name.startsWith("cluster")) return [];
    const file = join(root, "examples", entry.name, "gateway.yaml");
    return checkInput([file], realHost({}), false).program ?? [];
  });
  expect(programs.length).toBeGreaterThan(10);
  const [first, ...others] = programs;
  if (first === undefined) throw new Error("there are no examples");
  for (const program of others) {
    expect(reported(program, program)).toMatch(/^no request is/);
    expect(reported(first, program)).toMatch(/^\d+ differences?: /);
  }
});

import { describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { accessOutcome } from "../../compiler/inspect/access/access-text.ts";
import { requestAccess } from "../../compiler/inspect/access/request-access.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { gwc, installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

const config = `binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            matches: [{path: {pathPrefix: /mcp}}]
            policies:
              jwtAuth: {issuer: "https://id.example.com", jwks: {url: "https://id.example.com/keys"}, audiences: [tools]}
              mcpAuthorization:
                rules:
                  - '"admin" in jwt.roles && mcp.tool.name.startsWith("delete_")'
                  - mcp.tool.name == "echo" && cidr("10.0.0.0/8").containsIP(source.address)
                  - deny: jwt.sub == "eve"
            backends: [{mcp: {targets: [{name: files, mcp: {host: "http://127.0.0.1:9/mcp"}}]}}]
          - name: api
            matches: [{path: {pathPrefix: /api}, headers: [{name: x-env, value: {exact: dev}}]}]
            policies: {authorization: {rules: ['request.headers["x-team"] == "blue"']}}
            backends: [{host: "127.0.0.1:9"}]
`;

async function can(...argv: readonly string[]) {
  const { code, stdout, stderr } = await gwc(["can", ...argv], {
    cwd: new Workspace({ "gateway.yaml": config }).folder,
  });
  return { code, text: `${stdout}${stderr}` };
}

describe("gwc can", () => {
  it("says no to methods that the gateway answers 400 to", async () => {
    for (const method of ["get", "Delete", "FOO"])
      expect(await can(method, "http://a.test:3000/api")).toEqual({
        code: 1,
        text: `no: "${method}" is not an HTTP method: 400\n`,
      });
  });

  it("accepts the requests of diff's examples", async () => {
    const changed = config.replace('["x-team"] == "blue"', '["x-team"] in ["blue", "red"]');
    const cwd = new Workspace({ "a.yaml": config, "b.yaml": changed }).folder;
    const { stdout } = await gwc(["diff", "a.yaml", "b.yaml"], { cwd });
    const [, method = "", target = "", ...headers] =
      /e\.g\. +(\w+) (\S+) {2}(.*)/.exec(stdout) ?? [];
    const asked = [method, target, "--header", headers.join("").split("  ").join("\n")];
    expect(target).toBe("/api");
    expect((await gwc(["can", ...asked, "-f", "b.yaml"], { cwd })).code).toBe(0);
    expect((await gwc(["can", ...asked, "-f", "a.yaml"], { cwd })).code).toBe(1);
    expect((await can("GET", "//shop.example.com/api", "--header", "x-env: dev")).text).toContain(
      "no: GET //shop.example.com/api",
    );
    expect((await can("--who", "tools/call", "echo")).text).toContain("who may use tool echo");
  });

  it("asks for the port of a path if there are several", async () => {
    const cwd = new Workspace({
      "gateway.yaml": config.replace(
        "binds:",
        `binds:\n  - {port: 3001, listeners: [{routes: [{backends: [{host: "a:1"}]}]}]}`,
      ),
    }).folder;
    expect(await gwc(["can", "GET", "/api"], { cwd })).toMatchObject({
      code: 2,
      stderr:
        'error: several ports serve "/api"\n' +
        "hint: name one: http://localhost:3001/api, http://localhost:3000/api\n",
    });
  });

  it("leaves the claims of a token open under their other name, too", () => {
    const [before = "", after = ""] = config.split(/ +- '"admin".*\n.*containsIP.*\n/);
    const rules = `                  - 'true'\n${after.replace("jwt.sub", "auth.claims.sub")}`;
    const { stdout } = installedGwc(["can", "--who", "tool", "echo"], {
      cwd: new Workspace({ "gateway.yaml": before + rules }).folder,
    });
    expect(stdout).toContain(
      "server files: everybody with a valid token of https://id.example.com for whom",
    );
    expect(stdout).toContain('as CEL: !(auth.claims.sub == "eve")');
  });

  it("takes the names that clients use where there are several servers", async () => {
    const rules = /mcpAuthorization:[\s\S]*?backends: (?=\[\{mcp)/;
    const targets = ["files", "web"].map(
      (name) => `{name: ${name}, mcp: {host: "http://127.0.0.1:9/mcp"}}`,
    );
    const several = config
      .replace(
        rules,
        "mcpAuthorization: {rules: ['true', {deny: 'mcp.tool.name == \"drop\"'}]}\n            backends: ",
      )
      .replace(/targets: \[.*\]/, `targets: [${targets.join(", ")}]}}]`);
    const { folder } = new Workspace({ "gateway.yaml": several });
    const ask = (name: string) =>
      gwc(["can", "call", "tool", name, "--as", '{"sub":"ann"}'], { cwd: folder });
    const denied = await ask("web_drop");
    expect(denied).toMatchObject({ code: 1, stderr: "" });
    expect(denied.stdout).toMatch(/server web: no/);
    expect(denied.stdout).not.toMatch(/server files/);
    expect((await ask("files_read")).code).toBe(0);
    expect((await ask("drop")).stdout).toMatch(/server files: no[\s\S]*server web: no/);
  });

  it("says no with the rule that denies, and exits with 1", async () => {
    const { code, text } = await can(
      "call",
      "tool",
      "delete_all",
      "--as",
      '{"sub":"eve","roles":["admin"]}',
    );
    expect(code).toBe(1);
    expect(text).toMatch(/^no: tool delete_all\n/);
    expect(text).toContain('refuses    denied by jwt.sub == "eve"');
    expect(text).toContain("at gateway.yaml:13:21");
  });

  it("says yes with the rule that allows, and exits with 0", async () => {
    const { code, text } = await can(
      "call",
      "tool",
      "delete_all",
      "--as",
      '{"sub":"ann","roles":["admin"]}',
    );
    expect(code).toBe(0);
    expect(text).toMatch(/^yes: tool delete_all\n/);
    expect(text).toContain('passes     allowed by "admin" in jwt.roles');
  });

  it("refuses nobody in particular where a token is required", async () => {
    const { code, text } = await can("call", "tool", "echo");
    expect(code).toBe(1);
    expect(text).toContain("without a valid token of https://id.example.com");
  });

  it("says what it depends on when the client's address is not known, and exits with 4", async () => {
    const sub = ["--as", '{"sub":"ann"}'];
    const open = await can("call", "tool", "echo", ...sub);
    expect(open.code).toBe(4);
    expect(open.text).toContain('when     cidr("10.0.0.0/8").containsIP(source.address)');
    expect((await can("call", "tool", "echo", ...sub, "--from", "10.1.2.3")).code).toBe(0);
    expect((await can("call", "tool", "echo", ...sub, "--from", "8.8.8.8")).code).toBe(1);
  });

  it("says neither yes nor everybody where a server of others decides", async () => {
    const asked = config.replace(/( +)mcpAuthorization:/, '$1extAuthz: {host: "127.0.0.1:9"}\n$&');
    const { folder } = new Workspace({ "gateway.yaml": asked });
    const ask = (...argv: readonly string[]) => gwc(["can", ...argv], { cwd: folder });
    const someone = ["--as", '{"sub":"ann"}', "--from", "10.1.2.3"];
    const open = await ask("call", "tool", "echo", ...someone);
    expect(open.code).toBe(4);
    expect(open.stdout).toMatch(/^it depends: tool echo\n/);
    expect(open.stdout).toContain("extAuthz           undecided  an authorization server decides");
    expect((await ask("call", "tool", "echo", ...someone, "--from", "8.8.8.8")).code).toBe(1);
    expect((await ask("--who", "tool", "echo")).stdout).toContain(
      "everybody with a valid token of https://id.example.com, unless extAuthz refuses, for whom",
    );
  });

  it("turned around says who may, in words and as an expression", async () => {
    const { text } = await can("--who", "tool", "delete_all");
    expect(text).toContain('when     "admin" in jwt.roles, jwt.sub == "eve" is false');
    expect(text).toContain('as CEL: "admin" in jwt.roles && !(jwt.sub == "eve")');
  });

  it("asks for a request as curl would send it, with the headers that are given", async () => {
    const url = "http://any.example.com:3000/api";
    expect((await can("GET", url)).text).toBe("no: no route of the listener matches it: 404\n");
    expect((await can("GET", url, "--header", "X-Env: dev")).code).toBe(1);
    expect((await can("GET", url, "--header", "x-env: dev\nx-team: blue")).code).toBe(0);
  });

  it("sees paths and hosts as the gateway does, and preflights as its CORS policy does", async () => {
    const text = `binds:
  - port: 3000
    listeners:
      - routes:
          - hostnames: [a.test]
            policies:
              cors: {allowOrigins: ["https://desk.test"]}
              authorization: {rules: [{deny: 'request.path == "/admin"'}]}
            backends: [{host: "127.0.0.1:9"}]
`;
    const ask = askerIn(text);
    for (const path of ["/admin", "/%61dmin", "//admin", "/x/../admin"])
      expect(await ask("GET", `http://a.test:3000${path}`)).toBe("no");
    expect(await ask("GET", "http://A.test.:3000/other")).toBe("yes");
    for (const path of ["/a%2fadmin", "/%00", "/%zz"])
      expect(await ask("GET", `http://a.test:3000${path}`)).toMatch(/: 400$/);
    expect(await ask("OPTIONS", "http://a.test:3000/admin", PREFLIGHT)).toBe("yes");
    expect(await ask("OPTIONS", "http://a.test:3000/admin")).toBe("no");
  });

  it("asks a listener's own policies where no route takes a request, or they may choose another one", async () => {
    const route = 'matches: [{path: {pathPrefix: /api}}], backends: [{host: "127.0.0.1:9"}]';
    const ask = askerIn(`binds:
  - {port: 1, listeners: [{policies: {cors: {allowOrigins: ["*"]}}, routes: [{${route}}]}]}
  - {port: 2, listeners: [{policies: {directResponse: {status: 200}}}]}
  - port: 3
    listeners:
      - policies: {transformations: {request: {set: {x-release: '"beta"'}}}}
        routes: [{${route}, policies: {authorization: {rules: ['request.headers["x-release"] == "beta"']}}}]
  - port: 4
    listeners:
      - policies: {transformations: {request: {set: {":path": '"/api"'}}}}
        routes: [{${route}}]
`);
    expect(await ask("OPTIONS", "http://a.test:1/other", PREFLIGHT)).toBe("yes");
    expect(await ask("GET", "http://a.test:1/other")).toMatch(/: 404$/);
    expect(await ask("GET", "http://a.test:1/api")).toBe("yes");
    expect(await ask("GET", "http://a.test:2/other")).toBe("yes");
    // Headers that clients claim are not the values that the rule reads.
    expect(await ask("GET", "http://a.test:3/api")).toBe("depends");
    expect(await ask("GET", "http://a.test:3/other")).toMatch(/: 404$/);
    expect(await ask("GET", "http://a.test:4/other")).toBe("depends");
  });
});

const PREFLIGHT = { origin: "https://eve.test", "access-control-request-method": "POST" };

/** Asks a configuration for requests of somebody at 127.0.0.1 without credentials. */
function askerIn(text: string) {
  const checked = checkInput(["a.yaml"], memoryHost({ "a.yaml": text }), false);
  return (method: string, url: string, headers: Readonly<Record<string, string>> = {}) => {
    const asker = { identities: { given: {}, isAnyone: false }, headers, address: "127.0.0.1" };
    const found = requestAccess(checked, method, new URL(url), asker);
    if (found.kind === "none") return found.reason;
    const last = found.access.verdicts.at(-1);
    return last?.policy === "routing" ? last.reason : accessOutcome([found.access]);
  };
}

import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, inject, it } from "vitest";
import { parse } from "yaml";
import { gwc } from "../harness/gwc.ts";
import { listen } from "../harness/listen.ts";
import { ownPackage } from "../harness/own-package.ts";
import { root } from "../harness/root.ts";
import { shopManifests } from "../harness/shop-manifests.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";

const folderOfAction = path.join(root, ".github", "actions", "gateway");

interface Step {
  readonly name: string;
  readonly if?: string;
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

const action: Action = parse(readFileSync(path.join(folderOfAction, "action.yml"), "utf8"));

const base = `gateways: {default: {port: 3000}}
routes:
  - name: tools
    policies:
      mcpAuthorization:
        rules:
          - mcp.tool.name == "search"
    backends: [{mcp: {targets: [{name: files, mcp: {host: "http://127.0.0.1:9/mcp"}}]}}]
`;
const opened = base.replace('mcp.tool.name == "search"', 'mcp.tool.name.startsWith("s")');
const test = `tests:
  - {name: search is allowed, route: tools, tool: search, expect: {status: 200}}
`;

/** A repository whose main branch has the base, with another configuration in the working folder. */
function repository(changed: string, more: Readonly<Record<string, string>> = {}): Workspace {
  const made = new Workspace({ "gateway.yaml": base, "gateway.test.yaml": test, ...more });
  const git = (...argv: readonly string[]) =>
    execFileSync(program("git"), ["-c", "user.name=a", "-c", "user.email=a@example.com", ...argv], {
      cwd: made.folder,
    });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "base");
  git("checkout", "-qb", "change");
  made.write("gateway.yaml", changed);
  git("commit", "-qam", "cleanup", "--allow-empty");
  return made;
}

interface Comment {
  readonly id: number;
  body: string;
}

/** Serves the comments of GitHub's REST API, and of GitLab's notes. */
async function commentServer() {
  const comments: Comment[] = [{ id: 1, body: "first!" }];
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      calls.push(`${request.method} ${request.url}`);
      const token = request.headers.authorization ?? request.headers["private-token"];
      if (!String(token).includes("t0ken")) return response.writeHead(403).end("{}");
      const text = Buffer.concat(chunks).toString();
      const own = comments.find(({ id }) => request.url?.endsWith(`/${id}`));
      if (request.method === "GET") return response.end(JSON.stringify(comments));
      if (own === undefined)
        comments.push({ id: comments.length + 1, body: JSON.parse(text).body });
      else own.body = JSON.parse(text).body;
      return response.end("{}");
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, comments, calls };
}

interface Ran {
  readonly steps: readonly string[];
  readonly code: number;
  readonly output: string;
}

/** Runs the steps of the action as a runner does: each in bash, later ones also after a failure. */
async function runAction(
  { folder }: Workspace,
  inputs: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): Promise<Ran> {
  const installed = `${process.execPath} ${path.join(ownPackage(inject("sourceDigest")), "compiler", "gwc.mjs")}`;
  const given: Record<string, string> = { gwc: installed, base: "main", token: "t0ken", ...inputs };
  const input = (name: string) => given[name] ?? action.inputs[name]?.default ?? "";
  const filled = (text: string) =>
    text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => input(name));
  const steps: string[] = [];
  let code = 0;
  let output = "";
  for (const step of action.runs.steps) {
    const conditions = [...(step.if ?? "").matchAll(/inputs\.([\w-]+) == '([^']*)'/g)];
    if (conditions.some(([, name = "", value]) => input(name) !== value)) continue;
    const env = Object.fromEntries(
      Object.entries(step.env).map(([key, text]) => [key, filled(text)]),
    );
    const result = await bash(step.run, folder, {
      ...{ PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", GITHUB_ACTIONS: "true" },
      ...{ GITHUB_ACTION_PATH: folderOfAction, ...variables, ...env },
    });
    steps.push(`${step.name}: ${result.code}`);
    code = code === 0 ? result.code : code;
    output += result.output;
  }
  return { steps, code, output };
}

function bash(
  script: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(program("bash"), ["-e", "-o", "pipefail", "-c", script], { cwd, env });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk));
  return new Promise((resolve) =>
    child.on("close", (code) => resolve({ code: code ?? -1, output })),
  );
}

async function pullRequest(made: Workspace) {
  const server = await commentServer();
  const event = made.write("event.json", JSON.stringify({ pull_request: { number: 7 } }));
  const variables = {
    GITHUB_EVENT_PATH: event,
    GITHUB_API_URL: server.url,
    GITHUB_REPOSITORY: "o/r",
    GITHUB_STEP_SUMMARY: made.path("summary.md"),
  };
  return { ...server, variables };
}

describe("the GitHub Action", () => {
  it("fails a change that opens access, with an annotation at its line and one comment", async () => {
    const made = repository(opened);
    const { variables, comments, calls } = await pullRequest(made);
    const { steps, code, output } = await runAction(made, {}, variables);
    expect([steps, code], output).toEqual([
      ["Check: 0", "Test: 0", "Audit: 0", "Compare access: 1"],
      1,
    ]);
    expect(output).toMatch(/^::warning file=gateway\.yaml,line=7,.*gwc diff%3A OPENS/m);
    expect(comments).toHaveLength(2);
    expect(comments[1]?.body).toContain("OPENS: route tools");
    expect(comments[1]?.body).toContain("```mermaid\nflowchart LR");
    expect(readFileSync(made.path("summary.md"), "utf8")).toContain("OPENS");
    expect(JSON.parse(readFileSync(made.path("gateway-diff.sarif"), "utf8")).runs).toHaveLength(1);
    await runAction(made, {}, variables);
    expect(comments).toHaveLength(2);
    expect(calls.at(-1)).toBe("PATCH /repos/o/r/issues/comments/2");
  });

  it("passes the same change with fail-on: never", async () => {
    const made = repository(opened);
    const { variables } = await pullRequest(made);
    const { steps } = await runAction(made, { "fail-on": "never" }, variables);
    expect(steps.at(-1)).toBe("Compare access: 0");
  });

  it("passes a change that closes access, except with fail-on: differences", async () => {
    const made = repository(base.replace('"search"', '"search" && "x" == request.headers["x-a"]'));
    const { variables } = await pullRequest(made);
    const run = async (policy: string) =>
      (await runAction(made, { "fail-on": policy }, variables)).steps.at(-1);
    expect(await run("opens")).toBe("Compare access: 0");
    expect(await run("differences")).toBe("Compare access: 1");
  });

  it("keeps its verdict if the token may not comment", async () => {
    const made = repository(base);
    const { variables, comments } = await pullRequest(made);
    const { steps, output } = await runAction(made, { token: "of-a-fork" }, variables);
    expect(steps.at(-1), output).toBe("Compare access: 0");
    expect(output).toContain("::warning::the comment was not written: GET");
    expect(comments).toHaveLength(1);
  });

  it("reports an invalid configuration and does not call it unchanged", async () => {
    const made = repository("routes: [{name: 1}]");
    const { variables } = await pullRequest(made);
    const { steps, code } = await runAction(made, {}, variables);
    expect([code, steps.at(-1)]).toEqual([1, "Compare access: 1"]);
  });

  it("calls all access of a file open that the base does not have", async () => {
    const made = repository(base);
    const { variables, comments } = await pullRequest(made);
    made.write("new/gateway.yaml", base);
    const inputs = { file: "new/gateway.yaml", tests: "false" };
    const { steps, output } = await runAction(made, inputs, variables);
    expect(steps.at(-1), output).toBe("Compare access: 1");
    expect(output).toContain('note: "new/gateway.yaml" is not in main, so all of it is new');
    expect(comments[1]?.body).toContain("OPENS: port 3000 (new)");
  });

  it("says what to do if the base is not fetched", async () => {
    const made = repository(base);
    const { variables } = await pullRequest(made);
    const { steps, output } = await runAction(made, { base: "origin/gone" }, variables);
    expect(steps.at(-1)).toBe("Compare access: 2");
    expect(output).toContain("hint: fetch it");
    expect(output).toContain("::error title=gwc diff::access was not compared with origin/gone");
  });

  it("says what to do if gwc is not installed", async () => {
    const made = repository(base);
    const { variables } = await pullRequest(made);
    const { steps, output } = await runAction(made, { gwc: "gwc-of-nobody" }, variables);
    expect(steps[0]).toBe("Check: 1");
    expect(output).toContain('::error::"gwc-of-nobody" does not run. Install gwc');
  });

  it("compares manifests that a command renders in both revisions", async () => {
    const render = "#!/bin/sh\ncat gateway.yaml\n";
    const made = repository(opened, { "render.sh": render });
    const { variables, comments } = await pullRequest(made);
    const { steps, output } = await runAction(made, { render: "sh render.sh" }, variables);
    expect(steps, output).toEqual(["Check: 0", "Compare access: 1"]);
    expect(comments[1]?.body).toContain("rendered.yaml:7:");
  });
});

describe("the GitLab job", () => {
  it("writes one note of the merge request, and fails as the action does", async () => {
    const made = repository(opened);
    const { url, comments } = await commentServer();
    const command = `${process.execPath} ${path.join(ownPackage(inject("sourceDigest")), "compiler", "gwc.mjs")}`;
    const jobs = parse(readFileSync(path.join(root, ".gitlab", "gateway.yml"), "utf8"));
    const [script] = jobs["gateway-diff"].script;
    const env = {
      ...jobs[".gateway-review"].variables,
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, GWC: command, BASE: "main" },
      ...{
        CI_MERGE_REQUEST_IID: "3",
        CI_PROJECT_ID: "9",
        CI_API_V4_URL: url,
        GITLAB_TOKEN: "t0ken",
      },
    };
    const installed = script.replace("node_modules/gwc/", `${root}/`);
    const { code, output } = await bash(installed, made.folder, env);
    expect(code, output).toBe(1);
    expect(comments[1]?.body).toContain("OPENS: route tools");
  });
});

describe("gwc diff --render", () => {
  const diff = (
    { folder }: Workspace,
    render: string,
    env: Readonly<Record<string, string>> = {},
  ) => gwc(["diff", "--git", "main", "--render", render], { cwd: folder, env });

  it("says in which revision the command failed, and what it printed", async () => {
    const made = repository(opened, { "render.sh": "cat gateway.yaml" });
    made.write("render.sh", "echo no overlay >&2; exit 3");
    expect(await diff(made, "sh render.sh")).toMatchObject({
      code: 1,
      stderr:
        'error: --render "sh render.sh" failed in the working folder: exit code 3\n  no overlay\n',
    });
  });

  it("refuses a command that prints nothing instead of calling everything removed", async () => {
    const { code, stderr } = await diff(repository(opened), "true");
    expect([code, stderr]).toEqual([
      1,
      'error: --render "true" failed in main: it printed no manifests\n',
    ]);
  });

  it("refuses what needs a shell", async () => {
    const { code, stderr } = await diff(repository(opened), "cat gateway.yaml | tee x");
    expect([code, stderr]).toEqual([2, expect.stringContaining('"|" needs a shell')]);
  });

  it("hides tokens of the job from the command, and leaves the repository as it was", async () => {
    const script = 'test -z "$GITHUB_TOKEN" && cat gateway.yaml';
    const made = repository(opened, { "render.sh": script });
    const { code, stdout } = await diff(made, "sh render.sh", { GITHUB_TOKEN: "t0ken" });
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 OPENS")]);
    const status = execFileSync(program("git"), ["status", "--porcelain"], { cwd: made.folder });
    expect(status.toString()).toBe("");
  });

  const closed = 'request.path == "/shop"';
  const open = 'request.path.startsWith("/")';
  const annotations = async ({ folder }: Workspace) => {
    const argv = ["diff", "--git", "main", "--render", "sh render.sh", "--format", "github"];
    const { stdout, stderr } = await gwc(argv, { cwd: folder });
    const found = stdout.split("\n").filter((line) => line.includes("OPENS::"));
    return found.length > 0 ? found : [stdout + stderr];
  };

  it("annotates the line of the manifest that a rendered one with a prefix comes from", async () => {
    const render = 'sed "s/name: rules/name: prod-rules/" base/policy.yaml';
    const made = repository(opened, {
      "render.sh": render,
      "base/policy.yaml": shopManifests(closed),
    });
    made.write("base/policy.yaml", shopManifests(open));
    const [found] = await annotations(made);
    expect(found).toContain("file=base/policy.yaml,line=27,");
    expect(found).toContain("GatewayPolicy default/prod-rules, rendered.yaml:27:");
  });

  it("annotates the line of a value that a template puts into a manifest", async () => {
    const template = shopManifests("RULE");
    const render =
      'while read -r line; do sed "s|RULE|${line#rule: }|" base.tpl; done < values.yaml';
    const files = { "render.sh": render, "base.tpl": template, "values.yaml": `rule: ${closed}\n` };
    const made = repository(opened, files);
    made.write("values.yaml", `rule: ${open}\n`);
    expect((await annotations(made))[0]).toContain("file=values.yaml,line=1,");
  });

  it("has no annotation at a line if several places fit", async () => {
    const render = "cat base/policy.yaml";
    const made = repository(opened, {
      "render.sh": render,
      "base/policy.yaml": shopManifests(closed),
    });
    made.write("base/policy.yaml", shopManifests(open));
    made.write("copy/policy.yaml", shopManifests(open));
    expect((await annotations(made))[0]).toContain("::warning title=gwc diff%3A OPENS::");
  });
});

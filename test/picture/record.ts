import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess, installedGwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";
import type { Frame } from "./terminal-svg.ts";

const EXAMPLE = path.join(root, "examples/authorization");
const PROMPT = "\u001b[32m$\u001b[39m ";
/** Seconds in which a reader takes in the output of a command. */
const READING = { short: 2, long: 6 };

/** Records check, build, diff and reload of examples/authorization, as frames of a terminal. */
export async function record(): Promise<readonly Frame[]> {
  const port = await freePort();
  const text = (name: string) => readFileSync(path.join(EXAMPLE, name), "utf8");
  const workspace = new Workspace({
    "gateway.yaml": text("gateway.yaml").replace(/port: 3000/, `port: ${port}`),
    "jwks.json": text("jwks.json"),
  });
  const file = workspace.path("gateway.yaml");
  const git = (...argv: readonly string[]) =>
    execFileSync(
      program("git"),
      ["-c", "user.name=gwc", "-c", "user.email=gwc@localhost", ...argv],
      {
        cwd: workspace.folder,
      },
    );
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "first");
  const edit = (from: string, to: string) => {
    const before = readFileSync(file, "utf8");
    if (!before.includes(from)) throw new Error(`the example has no ${from}`);
    writeFileSync(file, before.replace(from, to));
  };
  const frames: Frame[] = [];
  let screen = "";
  const show = (more: string, seconds: number) => {
    screen += more.replaceAll(String(port), "3000");
    frames.push({ text: screen.trimEnd(), seconds });
  };
  const call = (argv: readonly string[], seconds: number) => {
    show(`${PROMPT}gwc ${argv.join(" ")}\n`, 1);
    const env = { FORCE_COLOR: "1" };
    const { stdout, stderr } = installedGwc(argv, { cwd: workspace.folder, env });
    show(`${stdout}${stderr}\n`, seconds);
  };
  const note = (line: string, more = "") =>
    show(`\u001b[2m# ${line}\u001b[22m\n${more}`, READING.short);

  edit('jwt.sub == "test-user"', 'jwt.subject = "test-user"');
  // The first frame shows what the rest is about.
  const rules = readFileSync(file, "utf8").match(/ *mcpAuthorization:\n(.*\n){5}/);
  note("a rule has a mistake", `${rules?.[0]}\n`);
  call(["check"], READING.long);
  edit('jwt.subject = "test-user"', 'jwt.sub == "test-user"');
  screen = "";
  note("it is mended");
  call(["check"], READING.short);
  call(["build"], READING.short);
  screen = "";
  edit('&& mcp.tool.name == "get-sum"', '&& mcp.tool.name.startsWith("get-")');
  note('a "cleanup" of a rule: who may do more than before?');
  call(["diff", "--git", "HEAD"], READING.long);
  screen = "";
  const env = {
    ...{ STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0", ADMIN_ADDR: "127.0.0.1:0" },
    FORCE_COLOR: "1",
  };
  show(`${PROMPT}gwc run\n`, 1);
  const running = new GwcProcess(["run"], { cwd: workspace.folder, env });
  await running.seen(/try: .*\n/);
  const started = running.output.length;
  show(listening(running.output), READING.short);
  note("another edit, while it serves");
  edit('allowOrigins: ["*"]', 'allowOrigins: ["https://app.example.com"]');
  await running.seen(/changed: .*\n/, started);
  show(running.output.slice(started), READING.long);
  await running.stop();
  return frames;
}

/** Lines about the gateway's own port, without times and the other ports of the process. */
function listening(output: string): string {
  return output
    .split("\n")
    .filter((line) => !/stats|readiness|admin page/.test(line))
    .map((line) => line.replace(/^\d{4}-\S+\t/, ""))
    .join("\n");
}

import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess, installedGwc } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** The port of the file that `gwc init` writes. */
const PORT = 3000;

/**
 * The first minutes in an empty folder: the commands and their output, as a document. Ports, times and sizes are
 * replaced by fixed ones.
 */
export async function firstMinutes(): Promise<string> {
  const folder = temporaryFolder();
  const file = path.join(folder, "gateway.yaml");
  const port = await freePort();
  const edit = (from: string, to: string) =>
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(from, () => to),
    );
  const call = (...argv: readonly string[]) => {
    const { stdout, stderr } = installedGwc(argv, { cwd: folder });
    return block(`npx gwc ${argv.join(" ")}`, plain(stdout + stderr, PORT));
  };
  const parts = [
    INTRODUCTION,
    text("An empty folder says what to do."),
    call("check"),
    call("init"),
  ];
  edit(`port: ${PORT}`, `port: ${port}`);
  parts.push(text("The file works as it is."), call("check"));
  const env = {
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
    ADMIN_ADDR: "127.0.0.1:0",
  };
  const running = new GwcProcess(["run"], { cwd: folder, env });
  await running.seen(/try: .*\n/);
  const started = running.output.length;
  parts.push(
    text("It serves at once, and says how to ask it for its tools."),
    block("npx gwc run", plain(running.output, port)),
    text(
      "While it runs, you edit the rules and make a mistake. The last good version is still served.",
    ),
  );
  edit("      # mcpAuthorization:\n      #   rules:\n      #     - ", RULE);
  await running.seen(/last good version/, started);
  const refused = running.output.length;
  parts.push(
    block(
      '# in gateway.yaml: - mcp.tool.name = "echo"',
      plain(running.output.slice(started), port),
    ),
    text("With the second equals sign it is served, without a restart."),
  );
  edit("mcp.tool.name = ", "mcp.tool.name == ");
  await running.seen(/changed: /, refused);
  parts.push(
    block(
      '# in gateway.yaml: - mcp.tool.name == "echo"',
      plain(running.output.slice(refused), port),
    ),
  );
  await running.stop();
  edit(`port: ${port}`, `port: ${PORT}`);
  parts.push(
    text("One command shows the meaning of a field."),
    call("explain", "cors.allowOrigins"),
    text("Then it is written down: TypeScript to review, one file to run, and a Dockerfile."),
    call("build"),
    text("In CI: is the committed output what the configuration says?"),
    call("build", "--check"),
  );
  return `${parts.join("\n\n")}\n`;
}

const INTRODUCTION = `# The first minutes

In an empty folder, with gwc installed (\`npm i gwc-*.tgz\`): what is typed, and what comes back. Made by running the
commands.`;

const RULE = '      mcpAuthorization:\n        rules:\n          - mcp.tool.name = "echo"\n#';

function text(sentence: string): string {
  return sentence;
}

function block(command: string, output: string): string {
  const line = command.startsWith("#") ? command : `$ ${command}`;
  return `\`\`\`console\n${line}\n${output.trimEnd()}\n\`\`\``;
}

/** Replaces everything that differs between machines and times. */
function plain(output: string, port: number): string {
  return output
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-01T00:00:00.000Z")
    .replaceAll(`:${port}`, `:${PORT}`)
    .replace(/(stats address on 127\.0\.0\.1:)\d+/, "$115020")
    .replace(/(readiness address on 127\.0\.0\.1:)\d+/, "$115021")
    .replace(/plus \d+( of the runtime)/, "plus 115$1")
    .replace(/(bundle +)\d+ kB/, "$1340 kB")
    .replace(/(admin page: http:\/\/127\.0\.0\.1:)\d+/, "$115000");
}

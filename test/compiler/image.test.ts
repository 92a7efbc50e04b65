import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import { freePort } from "../harness/free-port.ts";
import { initialize, post } from "../mcp/raw-client.ts";

// No container engine runs where the tests run: the image's commands run in a folder that holds what the image would.
const folder = mkdtempSync(path.join(tmpdir(), "gwc-image-"));
let dockerfile = "";
let readiness = 0;

beforeAll(async () => {
  const [port, stats, ready] = [await freePort(), await freePort(), await freePort()];
  readiness = ready;
  const yaml = `
config: {statsAddr: "127.0.0.1:${stats}", readinessAddr: "127.0.0.1:${ready}"}
binds: [{port: ${port}, listeners: [{routes: [{backends: [{host: "127.0.0.1:1"}]}]}]}]
`;
  const host = memoryHost({ "gateway.yaml": yaml });
  const { files } = await compileFile("gateway.yaml", { name: "image", host });
  const build = path.join(folder, "build");
  for (const { path: name, text } of files) {
    mkdirSync(path.dirname(path.join(build, name)), { recursive: true });
    writeFileSync(path.join(build, name), text);
  }
  dockerfile = files.find(({ path: name }) => name === "Dockerfile")?.text ?? "";
  mkdirSync(path.join(folder, "image"));
  for (const name of /^COPY (.*) \.\/$/m.exec(dockerfile)?.[1]?.split(" ") ?? []) {
    copyFileSync(path.join(build, name), path.join(folder, "image", name));
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

/** A command of the Dockerfile in its JSON form. */
function commandOf(instruction: RegExp): [string, string[]] {
  const json = instruction.exec(dockerfile)?.[1] ?? "[]";
  const [command = "", ...args] = JSON.parse(json) as string[];
  return [command === "node" ? process.execPath : command, args];
}

it("the image holds one file, and its user is a number without rights", () => {
  expect(readdirSync(path.join(folder, "image"))).toEqual(["gateway.mjs"]);
  expect(dockerfile).toMatch(/^USER [1-9]\d+:[1-9]\d+$/m);
});

it("the entry point serves, the health check sees it, and SIGTERM reaches it", async () => {
  const cwd = path.join(folder, "image");
  const env = { PATH: process.env.PATH ?? "" };
  const check = (): number | null => {
    const [command, args] = commandOf(/^HEALTHCHECK .*CMD (\[.*\])$/m);
    return spawnSync(command, args, { cwd, env }).status;
  };
  expect(check()).toBe(1);
  const [command, args] = commandOf(/^ENTRYPOINT (\[.*\])$/m);
  const gateway = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    for await (const chunk of gateway.stdout) if (String(chunk).includes(`:${readiness}`)) break;
    expect(check()).toBe(0);
  } finally {
    gateway.kill("SIGTERM");
  }
  expect(await once(gateway, "exit")).toEqual([0, null]);
});

it("a server over stdio starts in the image: the user without a name has a home", async () => {
  const script = fileURLToPath(new URL("../mcp/fixtures/scripted-stdio.mjs", import.meta.url));
  const port = await freePort();
  const stdio = { cmd: "sh", args: ["-c", `: > "$HOME/.gwc-home" && exec node "${script}"`] };
  const yaml = `
config: {statsAddr: "127.0.0.1:0", readinessAddr: "127.0.0.1:0"}
binds: [{port: ${port}, listeners: [{routes: [{backends: [{mcp: {targets: [{name: a, stdio: ${JSON.stringify(stdio)}}]}}]}]}]}]
`;
  const { files } = await compileFile("gateway.yaml", {
    name: "stdio",
    host: memoryHost({ "gateway.yaml": yaml }),
  });
  const text = (name: string) => files.find((each) => each.path === name)?.text ?? "";
  const cwd = path.join(folder, "stdio");
  mkdirSync(cwd);
  chmodSync(folder, 0o755);
  writeFileSync(path.join(cwd, "gateway.mjs"), text("gateway.mjs"));
  const set = /^ENV (.*)$/m.exec(text("Dockerfile"))?.[1]?.split(" ") ?? [];
  // Docker gives a user without a name this home.
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: "/",
    ...Object.fromEntries(set.map((each) => each.split("="))),
  };
  const user = process.getuid?.() === 0 ? { uid: 10101, gid: 10101 } : {};
  const gateway = spawn(process.execPath, ["gateway.mjs"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    ...user,
  });
  try {
    for await (const chunk of gateway.stdout) if (String(chunk).includes("readiness")) break;
    const { text: opened } = await post(`http://127.0.0.1:${port}/mcp`, initialize);
    expect(opened).toContain('"serverInfo"');
  } finally {
    gateway.kill("SIGKILL");
    rmSync(path.join(env.HOME, ".gwc-home"), { force: true });
  }
});

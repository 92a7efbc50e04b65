import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root } from "./compile-file.ts";

/** What a finished `gwc` said. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where and with which variables `gwc` is called. */
export interface Situation {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const executable = path.join(root, "compiler", "gwc.mjs");

/** Calls `gwc` as a user does, and waits for its end. */
export function gwc(argv: readonly string[], situation: Situation = {}): Finished {
  const { status, stdout, stderr } = spawnSync(process.execPath, [executable, ...argv], {
    cwd: situation.cwd ?? root,
    env: environment(situation),
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

/** The caller's environment without what changes how gwc writes. */
function environment({ env = {} }: Situation): NodeJS.ProcessEnv {
  const { NO_COLOR, FORCE_COLOR, GITHUB_ACTIONS, ADMIN_ADDR, ...rest } = process.env;
  return { ...rest, ...env };
}

/** A folder of files that is gone when the test ends. */
export class Workspace {
  readonly folder = mkdtempSync(path.join(tmpdir(), "gwc-test-"));

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  /** Writes a file in place. */
  write(name: string, text: string): string {
    const file = this.path(name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  path(name: string): string {
    return path.join(this.folder, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A `gwc run` under way. */
export class Running {
  /** Everything it has said so far, on both streams. */
  said = "";
  readonly #process: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(argv: readonly string[], situation: Situation = {}) {
    this.#process = spawn(process.execPath, [executable, ...argv], {
      cwd: situation.cwd ?? root,
      env: environment(situation),
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.said += text;
      });
    this.#ended = new Promise((resolve) => this.#process.on("close", resolve));
  }

  /** Waits until it has said something that matches, after what `from` characters hold. */
  async saying(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const found = pattern.exec(this.said.slice(from));
      if (found !== null) return found;
      if (Date.now() > deadline || this.#process.exitCode !== null)
        throw new Error(`never said ${pattern}; it said:\n${this.said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends it as an orchestrator does; resolves with its exit code. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (this.#process.exitCode === null) this.#process.kill(signal);
    return this.#ended;
  }

  /** Resolves with the exit code when it ends by itself. */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) this.#process.kill("SIGKILL");
    await this.#ended;
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { atEnd } from "./at-end.ts";
import { PATIENCE } from "./patience.ts";
import { pause } from "./pause.ts";

/** How a process is started. */
export interface ProcessOptions {
  /** Variables in addition to those of the tests; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder that it runs in. */
  readonly cwd?: string;
}

/** A process of a test: a gateway, a server, `gwc` itself. It is gone at the end of the test. */
export class TestProcess {
  /** All that it printed so far, on both streams. */
  output = "";
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  /** It has ended, and all of its output is here. */
  #isOver = false;

  /** The exit code, once it has ended; null when a signal ended it. */
  readonly exited: Promise<number | null>;

  constructor(command: string, parameters: readonly string[], options: ProcessOptions = {}) {
    this.#child = spawn(command, parameters, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.output += text;
      this.stdout += text;
      this.#wake();
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.output += text;
      this.stderr += text;
      this.#wake();
    });
    this.exited = this.#end();
    atEnd(() => this.stop("SIGKILL"));
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("it did not start");
    return this.#child.pid;
  }

  /** The first match of a pattern in what it printed after `from` characters, as soon as there is one. */
  async seen(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      const found = pattern.exec(this.output.slice(from));
      if (found !== null) return found;
      const left = deadline - performance.now();
      if (left < 0 || this.#isOver) throw new Error(`${pattern} is not in:\n${this.output}`);
      await this.#change(left);
    }
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Writes to its standard input. */
  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Ends it by a signal; resolves with the exit code. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (!this.hasEnded) this.signal(signal);
    return this.exited;
  }

  /** "close" comes after the last of the output, but not while a child of its own holds the output open. */
  async #end(): Promise<number | null> {
    const closed = new Promise((resolve) => this.#child.once("close", resolve));
    const code = await new Promise<number | null>((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", resolve);
    });
    await Promise.race([closed, pauseOften(10)]);
    this.#isOver = true;
    this.#wake();
    return code;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves with the next output or the end, or when milliseconds have passed. */
  #change(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Pauses so often for 100 ms: between two of them, a test that was stopped itself reads what came meanwhile. */
async function pauseOften(times: number): Promise<void> {
  for (let i = 0; i < times; i++) await pause(100);
}

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { onOneLine } from "../../json/json-text.ts";
import { LineReader } from "../protocol/line-reader.ts";
import { signalGroup } from "./process-groups.ts";
import type { StdioCommand } from "./target.ts";
import type { Transport, TransportEvents, TransportHost } from "./transport.ts";

/**
 * Starts a target's process, without a shell and as the leader of its own process group. The whole group is ended on every
 * exit path, including processes that the server has started itself.
 */
export function openStdioTransport(
  target: StdioCommand,
  host: TransportHost,
  events: TransportEvents,
): Transport {
  return new StdioTransport(target, host, events);
}

/** Milliseconds between closing a child's standard input and SIGTERM. */
const INPUT_END_DELAY = 1000;
/** Milliseconds between SIGTERM and SIGKILL. */
const KILL_DELAY = 2000;
/** Milliseconds for reading the last output of an exited child; a daemon may keep its pipe open forever. */
const EXIT_GRACE = 250;
const MAX_LOG_LINE = 8192;

class StdioTransport implements Transport {
  readonly #target: StdioCommand;
  readonly #host: TransportHost;
  readonly #events: TransportEvents;
  readonly #child: ChildProcessWithoutNullStreams;

  #isOpen = true;

  constructor(target: StdioCommand, host: TransportHost, events: TransportEvents) {
    this.#target = target;
    this.#host = host;
    this.#events = events;
    this.#child = spawn(target.command, target.args, {
      detached: true,
      shell: false,
      env: target.env,
      cwd: target.cwd,
    });
    if (this.#child.pid !== undefined) {
      host.groups.add(this.#child.pid);
      host.counts.started(target.name);
    }
    this.#watch();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(text: string): void {
    if (!this.#isOpen) return;
    this.#child.stdin.write(`${onOneLine(text)}\n`);
    if (this.#child.stdin.writableLength > this.#host.messageLimit) {
      this.#break("it does not read its standard input");
    }
  }

  pause(): void {
    this.#child.stdout.pause();
  }

  resume(): void {
    this.#child.stdout.resume();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#end();
  }

  #watch(): void {
    const child = this.#child;
    const out = new LineReader(
      this.#host.messageLimit,
      (line) => this.#isOpen && this.#events.onMessage(line),
      () => this.#break("a line is over the size limit"),
    );
    const log = new LineReader(
      MAX_LOG_LINE,
      (line) => this.#host.log(this.#target.name, line),
      () => this.#host.log(this.#target.name, "(skipped a line over 8 KB)"),
    );
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => log.push(chunk));
    // A dead child causes EPIPE here and `exit` below; `exit` has more details.
    child.stdin.on("error", () => {});
    child.on("error", (error) => {
      this.#forget();
      this.#break(error.message, "connect");
    });
    child.on("exit", (code, signal) => {
      // Grandchildren outlive their parent; the group id stays valid as long as one of them runs.
      this.#signal("SIGKILL");
      this.#forget();
      this.#host.counts.ended(this.#target.name);
      const detail = signal === null ? `exited with status ${code}` : `was ended by ${signal}`;
      const timer = setTimeout(() => this.#break(detail), EXIT_GRACE);
      child.once("close", () => {
        clearTimeout(timer);
        this.#break(detail);
      });
    });
  }

  /** Closes the transport after a failure and notifies its session. */
  #break(detail: string, kind: "connect" | "closed" = "closed"): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#host.counts.failed(this.#target.name);
    this.#end();
    this.#events.onClose({ kind, detail });
  }

  #end(): void {
    this.#child.stdin.end();
    // A paused stream would keep the pipes of a dead child open.
    this.#child.stdout.resume();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    // Servers exit when their input is closed (MCP, transports, stdio: shutdown); signals follow only if they do not.
    let timer = setTimeout(() => {
      this.#signal("SIGTERM");
      timer = setTimeout(() => this.#signal("SIGKILL"), KILL_DELAY);
    }, INPUT_END_DELAY);
    this.#child.once("exit", () => clearTimeout(timer));
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) signalGroup(this.#child.pid, signal);
  }

  #forget(): void {
    if (this.#child.pid !== undefined) this.#host.groups.delete(this.#child.pid);
  }
}

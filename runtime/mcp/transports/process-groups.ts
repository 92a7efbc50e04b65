import { type ChildProcess, spawn } from "node:child_process";

/**
 * The process groups that must not outlive this process. On an orderly exit or an exception, this process ends them itself.
 * If it is killed (SIGKILL, out of memory), a guard does: a small process that waits for the end of a pipe that only this
 * process holds open.
 */
export class ProcessGroups {
  readonly #leaders = new Set<number>();
  #guard: ChildProcess | undefined;

  constructor() {
    process.on("exit", () => {
      for (const leader of this.#leaders) signalGroup(leader, "SIGKILL");
    });
  }

  /** Adds the group that this process leads. */
  add(leader: number): void {
    this.#leaders.add(leader);
    if (this.#guard === undefined) this.#startGuard();
    else this.#guard.stdin?.write(`+${leader}\n`);
  }

  /** Removes a group that has ended. */
  delete(leader: number): void {
    this.#leaders.delete(leader);
    this.#guard?.stdin?.write(`-${leader}\n`);
  }

  /** Starts the guard in its own group: a signal to the gateway's group (Ctrl-C) must not end it first. */
  #startGuard(): void {
    const guard = spawn(process.execPath, ["-e", GUARD_SCRIPT], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: {},
    });
    this.#guard = guard;
    const forget = () => {
      if (this.#guard === guard) this.#guard = undefined;
    };
    // The next child starts another one.
    guard.on("exit", forget);
    guard.on("error", forget);
    guard.stdin.on("error", forget);
    guard.unref();
    if ("unref" in guard.stdin && typeof guard.stdin.unref === "function") guard.stdin.unref();
    for (const leader of this.#leaders) guard.stdin.write(`+${leader}\n`);
  }
}

/** Sends a signal to every process of a group; ignores groups that are gone. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The process is gone.
  }
}

/** Reads `+PID` and `-PID` lines; when its input ends, terminates the remaining groups, and kills them after two seconds. */
const GUARD_SCRIPT = `
const leaders = new Set();
let rest = "";
const send = (signal) => {
  for (const leader of leaders) {
    try {
      process.kill(-leader, signal);
    } catch {
      leaders.delete(leader);
    }
  }
};
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    if (line[0] === "+") leaders.add(Number(line.slice(1)));
    else leaders.delete(Number(line.slice(1)));
  }
});
process.stdin.on("end", () => {
  send("SIGTERM");
  if (leaders.size > 0) setTimeout(send, 2000, "SIGKILL");
});
`;

import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "./temporary-folder.ts";

/**
 * A clock of gateways that a test moves, so that no test depends on what happens in a second. Between two steps its monotonic
 * time does not advance, but its date does. Timers are not affected.
 *
 * @example
 * const clock = new SteppedClock();
 * const gateway = await startGateway({ ...config, env: clock.env });
 * clock.pass(1000);
 */
export class SteppedClock {
  readonly #folder = temporaryFolder({ "clock.mjs": SCRIPT, ahead: "0" });
  #ahead: number;

  /** `ahead`: milliseconds that it is ahead of the clock of the machine. */
  constructor(ahead = 0) {
    this.#ahead = ahead;
    this.#write();
  }

  /** Environment of a gateway with this clock. */
  get env(): Readonly<Record<string, string>> {
    const script = pathToFileURL(path.join(this.#folder, "clock.mjs"));
    return { NODE_OPTIONS: `--inspect-port=127.0.0.1:0 --import=${script}` };
  }

  /** Lets milliseconds pass. */
  pass(milliseconds: number): void {
    this.#ahead += milliseconds;
    this.#write();
  }

  /** A reader never finds half a number. */
  #write(): void {
    const file = path.join(this.#folder, "ahead");
    writeFileSync(`${file}.next`, String(this.#ahead));
    renameSync(`${file}.next`, file);
  }
}

const SCRIPT = `
import { readFileSync } from "node:fs";
const file = new URL("ahead", import.meta.url);
const ahead = () => Number(readFileSync(file, "utf8"));
const date = Date.now;
Date.now = () => date() + ahead();
const start = performance.now();
performance.now = () => start + ahead();
`;

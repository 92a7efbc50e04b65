import { readFileSync } from "node:fs";
import { fileVersion } from "./file-version.ts";
import { warn } from "./operator-warnings.ts";
import { startupError } from "./startup-error.ts";
import { mountFolderOf } from "./startup-values.ts";
import { UnusableFile } from "./unusable-file.ts";

/** How often the file is looked at, at most, and how long a change may settle; milliseconds. */
const LOOK_INTERVAL = 1000;
const SETTLE_TIME = 200;

/**
 * A value that is made of a file's text when the gateway starts, and again when the file has changed. It is looked at
 * when the value is asked for, so nothing has to be closed. A change counts when it is the same at two looks: it may
 * still be being written. If a change of a file of the configuration can't be read, the old value stays. A file of a mounted
 * Secret or ConfigMap changes as a whole and may be another tenant's: if it can't be read, there is no value until it can.
 */
export class WatchedFile<Value> {
  readonly #path: string;
  readonly #make: (text: string) => Value;
  readonly #isMounted: boolean;
  #state: ReadState<Value>;
  /** The version that the value was made of; empty if it could not be. */
  #version = "";
  /** The version that was there at the last look. */
  #seen = "";
  /** The version that could not be used. */
  #bad = "";
  #nextLook = 0;

  /** `make` throws an Error that says what is wrong, without the text. Throws StartupError, unless the file is mounted. */
  constructor(path: string, make: (text: string) => Value) {
    this.#path = path;
    this.#make = make;
    this.#isMounted = mountFolderOf(path) !== undefined;
    try {
      this.#seen = fileVersion(path);
      this.#state = { kind: "value", value: make(readFileSync(path, "utf8")) };
      this.#version = this.#seen;
    } catch (error) {
      const problem = new UnusableFile(path, reason(error));
      if (!this.#isMounted) throw startupError(problem.message);
      this.#state = { kind: "unusable", problem };
    }
  }

  /** The value as the file has it now. Throws UnusableFile if the file is mounted and has none. */
  current(): Value {
    const state = this.#now();
    if (state.kind === "unusable") throw state.problem;
    return state.value;
  }

  /** The same; `undefined` if there is no value. */
  usable(): Value | undefined {
    const state = this.#now();
    return state.kind === "unusable" ? undefined : state.value;
  }

  #now(): ReadState<Value> {
    const now = Date.now();
    if (now >= this.#nextLook) {
      this.#nextLook = now + LOOK_INTERVAL;
      this.#look(now);
    }
    return this.#state;
  }

  #look(now: number): void {
    let version = "absent";
    try {
      version = fileVersion(this.#path);
      if (version === this.#version || version === this.#bad) return;
      if (version !== this.#seen) {
        this.#seen = version;
        this.#nextLook = now + SETTLE_TIME;
        return;
      }
      this.#state = { kind: "value", value: this.#make(readFileSync(this.#path, "utf8")) };
      this.#version = version;
      this.#bad = "";
    } catch (error) {
      // Warned of once, until there is another one.
      if (this.#bad === version) return;
      this.#bad = version;
      const problem = new UnusableFile(this.#path, reason(error));
      if (this.#isMounted) {
        this.#state = { kind: "unusable", problem };
        this.#version = "";
      }
      const consequence = this.#isMounted
        ? "what needs it is refused"
        : "the old content stays in use";
      warn(`${problem.message}; ${consequence}`);
    }
  }
}

/** What a file holds. */
type ReadState<Value> =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "unusable"; readonly problem: UnusableFile };

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOENT" ? "no such file" : error.message;
}

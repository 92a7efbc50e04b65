import { readFileSync } from "node:fs";
import { fileVersion } from "./file-version.ts";
import { warn } from "./operator-warnings.ts";
import { startupError } from "./startup-error.ts";

/** How often the file is looked at, at most, and how long a change may settle; milliseconds. */
const lookInterval = 1000;
const settleTime = 200;

/**
 * A value that is made of a file's text when the gateway starts, and again when the file has changed. It is looked at
 * when the value is asked for, so nothing has to be closed. A change counts when it is the same at two looks: it may
 * still be being written. One that can't be read keeps the old value.
 */
export class WatchedFile<Value> {
  readonly #path: string;
  readonly #make: (text: string) => Value;
  #value: Value;
  /** The version that the value was made of. */
  #version: string;
  /** The version that was there at the last look. */
  #seen: string;
  /** The version that could not be used. */
  #bad = "";
  #nextLook = 0;

  /** `make` throws an Error that says what is wrong, without the text. Throws StartupError. */
  constructor(path: string, make: (text: string) => Value) {
    this.#path = path;
    this.#make = make;
    try {
      this.#version = fileVersion(path);
      this.#seen = this.#version;
      this.#value = make(readFileSync(path, "utf8"));
    } catch (error) {
      throw startupError(`${path} can't be used: ${reason(error)}`);
    }
  }

  current(): Value {
    const now = Date.now();
    if (now >= this.#nextLook) {
      this.#nextLook = now + lookInterval;
      this.#look(now);
    }
    return this.#value;
  }

  #look(now: number): void {
    let version = "absent";
    try {
      version = fileVersion(this.#path);
      if (version === this.#version || version === this.#bad) return;
      if (version !== this.#seen) {
        this.#seen = version;
        this.#nextLook = now + settleTime;
        return;
      }
      this.#value = this.#make(readFileSync(this.#path, "utf8"));
      this.#version = version;
      this.#bad = "";
    } catch (error) {
      // Warned of once, until there is another one.
      if (this.#bad === version) return;
      this.#bad = version;
      warn(`${this.#path} can't be used: ${reason(error)}; what was read before stays`);
    }
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOENT" ? "no such file" : error.message;
}

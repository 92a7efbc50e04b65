import { readFileSync, statSync } from "node:fs";
import type { GatewayContext } from "./context.ts";
import { lateError } from "./startup-error.ts";

/** How often the file is looked at, at most; milliseconds. */
const lookInterval = 1000;

/**
 * A value that is made of a file's text when the gateway starts, and again when the file has changed. It is looked at
 * when the value is asked for, so nothing has to be closed. A change that can't be read keeps the old value.
 */
export class FollowedFile<Value> {
  readonly #path: string;
  readonly #make: (text: string) => Value;
  #value: Value;
  #identity: string;
  #nextLook = 0;

  /** `make` throws an Error that says what is wrong, without the text. Throws StartupError. */
  constructor(path: string, make: (text: string) => Value) {
    this.#path = path;
    this.#make = make;
    try {
      this.#identity = identityOf(path);
      this.#value = make(readFileSync(path, "utf8"));
    } catch (error) {
      throw lateError(`${path} can't be used: ${reason(error)}`);
    }
  }

  current(gateway: GatewayContext): Value {
    const now = Date.now();
    if (now >= this.#nextLook) {
      this.#nextLook = now + lookInterval;
      this.#look(gateway);
    }
    return this.#value;
  }

  #look(gateway: GatewayContext): void {
    try {
      const identity = identityOf(this.#path);
      if (identity === this.#identity) return;
      this.#identity = identity;
      this.#value = this.#make(readFileSync(this.#path, "utf8"));
    } catch (error) {
      if (this.#identity === "") return;
      // Told once: the next change that can be read ends it.
      this.#identity = "";
      gateway.warn(`${this.#path} can't be used: ${reason(error)}; what was read before stays`);
    }
  }
}

/** Changes with the content, and when another file takes the place (a symlink of a mounted Secret). */
function identityOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOENT" ? "no such file" : error.message;
}

import { hash, randomBytes } from "node:crypto";
import type { PasswordFile } from "./password-file.ts";

/** Logins that are remembered. */
const capacity = 10_000;
/** Logins that may wait for their check; more are turned away. */
const maxWaiting = 64;

/** The next check waits as long as the last one took: the other half of the time is everybody else's. Milliseconds. */
function rest(time: number): Promise<void> {
  return time < 1 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, time));
}

/**
 * Checks logins, each new one once: a login that was right is remembered by a keyed digest until the passwords change.
 * Wrong ones are not, and are checked one after the other, so that guessing costs the guesser and nobody else.
 */
export class VerifiedLogins {
  readonly #secret = randomBytes(32).toString("hex");
  readonly #verified = new Set<string>();
  #passwords: PasswordFile | undefined;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** Whether the login is right; "busy" when too many wait. */
  check(
    passwords: PasswordFile,
    user: string,
    password: string,
  ): boolean | "busy" | Promise<boolean> {
    if (passwords !== this.#passwords) {
      this.#passwords = passwords;
      this.#verified.clear();
    }
    const login = hash("sha256", `${this.#secret}${user}:${password}`, "base64");
    if (this.#verified.has(login)) return true;
    if (this.#waiting >= maxWaiting) return "busy";
    this.#waiting += 1;
    let started = 0;
    const verdict = this.#last.then(() => {
      started = performance.now();
      return passwords.verify(user, password);
    });
    this.#last = verdict
      .catch(() => {})
      .then(() => rest(performance.now() - started))
      .finally(() => {
        this.#waiting -= 1;
      });
    return verdict.then((isRight) => {
      if (isRight && passwords === this.#passwords) this.#remember(login);
      return isRight;
    });
  }

  #remember(login: string): void {
    if (this.#verified.size >= capacity) {
      // The oldest one.
      for (const first of this.#verified) {
        this.#verified.delete(first);
        break;
      }
    }
    this.#verified.add(login);
  }
}

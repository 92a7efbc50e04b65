import { hash, randomBytes } from "node:crypto";
import type { PasswordFile } from "../../contents/password-file.ts";
import { isShaPassword } from "../../contents/password-hash.ts";
import type { PasswordPool } from "./password-pool.ts";

/** Maximum number of cached logins. */
const CAPACITY = 10_000;

/** A login and its source. */
export interface Login {
  readonly username: string;
  readonly password: string;
  /** The client's address. */
  readonly source: string;
}

/**
 * Checks each login once: valid logins are cached by a keyed digest until the passwords change. Invalid ones are not cached.
 */
export class VerifiedLogins {
  readonly #secret = randomBytes(32).toString("hex");
  readonly #verified = new Set<string>();
  /** Checks in progress, by digest; identical logins share one. */
  readonly #checking = new Map<string, Promise<boolean>>();
  #passwords: PasswordFile | undefined;

  /** Whether the login is valid; "busy" if too many checks wait. */
  check(
    passwords: PasswordFile,
    login: Login,
    pool: () => PasswordPool,
  ): boolean | "busy" | Promise<boolean> {
    if (passwords !== this.#passwords) {
      this.#passwords = passwords;
      this.#verified.clear();
      this.#checking.clear();
    }
    const { username, password, source } = login;
    const digest = hash("sha256", `${this.#secret}${username}:${password}`, "base64");
    if (this.#verified.has(digest)) return true;
    const checking = this.#checking.get(digest);
    if (checking !== undefined) return checking;
    const { hash: expected, isUser } = passwords.hashOf(username);
    if (!expected.isCostly) return isShaPassword(password, expected) && isUser;
    const verdict = pool().check({ password, expected: expected.text }, source);
    if (verdict === "busy") return verdict;
    const mine = verdict
      .then((isRight) => {
        if (isRight && isUser && passwords === this.#passwords) this.#remember(digest);
        return isRight && isUser;
      })
      .finally(() => {
        if (this.#checking.get(digest) === mine) this.#checking.delete(digest);
      });
    this.#checking.set(digest, mine);
    return mine;
  }

  #remember(digest: string): void {
    if (this.#verified.size >= CAPACITY) {
      // Evicts the oldest one.
      for (const first of this.#verified) {
        this.#verified.delete(first);
        break;
      }
    }
    this.#verified.add(digest);
  }
}

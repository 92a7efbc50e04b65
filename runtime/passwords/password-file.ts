import { type PasswordCheck, passwordCheck } from "./password-hash.ts";

/** Users and their password checks. */
export class PasswordFile {
  readonly #checks = new Map<string, PasswordCheck>();
  /** Stands for users that do not exist: their answer takes as long. */
  readonly #decoy: PasswordCheck;

  /** The text of an htpasswd file. Throws an Error that names the line, never what stands on it. */
  constructor(text: string) {
    text.split(/\r?\n/).forEach((line, index) => {
      const trimmed = line.trim();
      if (trimmed === "" || trimmed.startsWith("#")) return;
      const colon = trimmed.indexOf(":");
      const check = passwordCheck(trimmed.slice(colon + 1));
      if (colon < 1) throw new Error(`line ${index + 1} is not USER:HASH`);
      if (check === undefined) {
        throw new Error(`the hash of line ${index + 1} is not bcrypt, apr1, SHA or crypt`);
      }
      this.#checks.set(trimmed.slice(0, colon), check);
    });
    const [first] = this.#checks.values();
    if (first === undefined) throw new Error("it names no user");
    this.#decoy = first;
  }

  /** Whether the password is the user's. */
  verify(user: string, password: string): boolean | Promise<boolean> {
    const check = this.#checks.get(user);
    if (check !== undefined) return check(password);
    const verdict = this.#decoy(password);
    return verdict instanceof Promise ? verdict.then(() => false) : false;
  }
}

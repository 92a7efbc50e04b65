import { type PasswordHash, passwordHash } from "./password-hash.ts";

/** Users and the hashes of their passwords. */
export class PasswordFile {
  readonly #hashes = new Map<string, PasswordHash>();
  /** Hash for users that do not exist, so that their response takes equally long. */
  readonly #decoy: PasswordHash;

  /** Parses an htpasswd file. Throws an Error with the number of the line, never with its content. */
  constructor(text: string) {
    text.split(/\r?\n/).forEach((line, index) => {
      const trimmed = line.trim();
      if (trimmed === "" || trimmed.startsWith("#")) return;
      const colon = trimmed.indexOf(":");
      const found = passwordHash(trimmed.slice(colon + 1));
      if (colon < 1) throw new Error(`has no USER:HASH on line ${index + 1}`);
      if (found === undefined) {
        throw new Error(`has a hash on line ${index + 1} that is not bcrypt, apr1, SHA or crypt`);
      }
      this.#hashes.set(trimmed.slice(0, colon), found);
    });
    const [first] = this.#hashes.values();
    if (first === undefined) throw new Error("names no user");
    this.#decoy = first;
  }

  /** Returns the hash of a user. For a user that does not exist, no password matches. */
  hashOf(user: string): { readonly hash: PasswordHash; readonly isUser: boolean } {
    const hash = this.#hashes.get(user);
    return { hash: hash ?? this.#decoy, isUser: hash !== undefined };
  }
}

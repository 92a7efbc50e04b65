import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { FailureLimit } from "../../../../runtime/auth/keys-api/failure-limit.ts";
import { keyDigest, readApiKeyEntry } from "../../../../runtime/contents/api-key-entry.ts";
import type { WatchedFile } from "../../../../runtime/process/watched-file.ts";

/** Milliseconds after which people log in again. */
const LOGIN_TIME = 12 * 3_600_000;
/** Maximum number of logins; the oldest ends first. */
const MAX_LOGINS = 1000;
/** Minimum characters of a key. */
const MIN_KEY = 16;

/** Result of a try to log in: the secret of the login, that the key is wrong, or seconds to wait. */
export type LoginResult =
  | { readonly kind: "ok"; readonly secret: string }
  | { readonly kind: "wrong" }
  | { readonly kind: "wait"; readonly seconds: number };

/** A login. */
interface Login {
  /** Milliseconds of the monotonic clock. */
  readonly until: number;
  /** Digest of the key that was valid then. */
  readonly key: string;
}

/** Logins with the key of the admin page, in memory. */
export class AdminLogins {
  readonly #failures: FailureLimit;
  /** Watches the key in a file. Throws an Error if it cannot be read. */
  readonly #watch: (file: string) => WatchedFile<string>;
  /** By the digests of their secrets, the oldest first. */
  readonly #logins = new Map<string, Login>();
  #key: { readonly file: string; readonly digest: WatchedFile<string> } | undefined;

  private constructor(failures: FailureLimit, watch: (file: string) => WatchedFile<string>) {
    this.#failures = failures;
    this.#watch = watch;
  }

  /** Loads the modules of the runtime that read and protect keys. */
  static async load(): Promise<AdminLogins> {
    const { FailureLimit: Limit } = await import("gwc/runtime/auth/keys-api/failure-limit");
    const { WatchedFile: Watched } = await import("gwc/runtime/process/watched-file");
    const { file: filePath } = await import("gwc/runtime/process/startup-values");
    return new AdminLogins(new Limit(), (path) => new Watched(filePath(path), digestOfKey));
  }

  /** Reads the key. Throws an Error if that is impossible. */
  check(file: string): void {
    this.#watched(file).usable();
  }

  /** Logs in with a key. `file`: path of the valid key. Throws an Error if it cannot be read. */
  open(given: string, file: string, address: string): LoginResult {
    const seconds = this.#failures.pause(address);
    if (seconds !== undefined) return { kind: "wait", seconds };
    if (!this.#isKey(given, file)) {
      this.#failures.add(address);
      return { kind: "wrong" };
    }
    const secret = randomBytes(32).toString("base64url");
    const [oldest] = this.#logins.keys();
    if (this.#logins.size >= MAX_LOGINS && oldest !== undefined) this.#logins.delete(oldest);
    const until = performance.now() + LOGIN_TIME;
    this.#logins.set(digestOf(secret), { until, key: this.#digest(file) ?? "" });
    return { kind: "ok", secret };
  }

  /** Whether a secret is that of a login with the current key. */
  isOpen(secret: string, file: string): boolean {
    const id = digestOf(secret);
    const login = this.#logins.get(id);
    if (login === undefined) return false;
    if (performance.now() < login.until && login.key === this.#digest(file)) return true;
    this.#logins.delete(id);
    return false;
  }

  /** Ends a login. */
  close(secret: string): void {
    this.#logins.delete(digestOf(secret));
  }

  #isKey(given: string, file: string): boolean {
    const expected = this.#digest(file);
    // Digests are compared, in constant time: neither length nor content of the key has an effect.
    return (
      expected !== undefined &&
      timingSafeEqual(Buffer.from(keyDigest(given), "hex"), Buffer.from(expected, "hex"))
    );
  }

  #digest(file: string): string | undefined {
    return this.#watched(file).usable();
  }

  #watched(file: string): WatchedFile<string> {
    if (this.#key?.file !== file) this.#key = { file, digest: this.#watch(file) };
    return this.#key.digest;
  }
}

function digestOfKey(text: string): string {
  const key = text.trim();
  if (key !== "" && !key.startsWith("{") && key.length < MIN_KEY)
    throw new Error(`is too short: a key has at least ${MIN_KEY} characters`);
  return readApiKeyEntry(text).digest;
}

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

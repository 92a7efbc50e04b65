import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { AdminNode } from "../../../ir/admin.ts";
import { isLoopback } from "../../../model/loopback.ts";
import type { AdminLogins, LoginResult } from "./admin-logins.ts";

/** Whether a request may read the page: yes, after a login, or why not. */
export type PageAdmission =
  | { readonly kind: "admitted" }
  | { readonly kind: "login" }
  | { readonly kind: "refused"; readonly why: string };

const ADMITTED: PageAdmission = { kind: "admitted" };

/** Decides who may use the page, by the settings of the served configuration. */
export class PageAccess {
  readonly #settings: () => AdminNode | undefined;
  readonly #logins: AdminLogins;
  /** Whether the page listens on a loopback address. */
  readonly #isLocal: boolean;
  /** Port of the page, which distinguishes the cookies of several gateways of a host. */
  port = 0;

  constructor(host: string, logins: AdminLogins, settings: () => AdminNode | undefined) {
    this.#logins = logins;
    this.#settings = settings;
    this.#isLocal = isLoopback(host);
  }

  /** Throws an Error if the page must not be served at this address, or if its key cannot be read. */
  check(): void {
    const file = this.#keyFile;
    if (file !== undefined) this.#logins.check(file);
    else if (!this.#isLocal)
      throw new Error("without `config.admin.key` the page is served on a loopback address only");
  }

  /** Whether people log in. */
  get hasLogin(): boolean {
    return this.#keyFile !== undefined;
  }

  /**
   * Whether the page answers for a Host header: loopback names, those of the configuration, and beyond loopback any IP
   * address. Another site could point its own name at the page (DNS rebinding).
   */
  isOwnHost(header: string | undefined): boolean {
    const name = (header ?? "").replace(/:[0-9]+$/, "").toLowerCase();
    if (isLoopback(name) || this.#hostnames.includes(name)) return true;
    return !this.#isLocal && isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
  }

  /** Whether a page of this origin is the page itself. A proxy in front of a configured name may terminate TLS. */
  isOwnOrigin({ headers: { origin, host = "" } }: IncomingMessage): boolean {
    if (origin === `http://${host}`) return true;
    const isNamed = this.#hostnames.includes(host.replace(/:[0-9]+$/, "").toLowerCase());
    return isNamed && origin === `https://${host}`;
  }

  /** Decides about a request to read or to act. Scripts may send the key itself to the API. */
  admit(request: IncomingMessage, isApi: boolean): PageAdmission {
    const file = this.#keyFile;
    if (file === undefined)
      return this.#isLocal ? ADMITTED : { kind: "refused", why: "config.admin has no key" };
    try {
      const secret = cookieOf(request, this.#cookie);
      if (secret !== undefined && this.#logins.isOpen(secret, file)) return ADMITTED;
      const [, key] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
      if (key === undefined || !isApi) return { kind: "login" };
      const opened = this.#logins.open(key, file, addressOf(request));
      if (opened.kind !== "ok") return { kind: "login" };
      this.#logins.close(opened.secret);
      return ADMITTED;
    } catch (error) {
      return { kind: "refused", why: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Logs in with a key. Throws an Error if the configuration has no usable one. */
  login(request: IncomingMessage, key: string): LoginResult {
    const file = this.#keyFile;
    if (file === undefined) throw new Error("config.admin has no key");
    return this.#logins.open(key, file, addressOf(request));
  }

  /** Ends the login of a request. */
  logout(request: IncomingMessage): void {
    const secret = cookieOf(request, this.#cookie);
    if (secret !== undefined) this.#logins.close(secret);
  }

  /** Returns the Set-Cookie header for a login; without a secret, the one that removes it. */
  cookie(request: IncomingMessage, secret?: string): string {
    const isSecure = request.headers.origin?.startsWith("https://") === true;
    const age = secret === undefined ? "; Max-Age=0" : "";
    return `${this.#cookie}=${secret ?? ""}; Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}${age}`;
  }

  get #keyFile(): string | undefined {
    return this.#settings()?.key?.file;
  }

  get #hostnames(): readonly string[] {
    return this.#settings()?.hostnames ?? [];
  }

  get #cookie(): string {
    return `gwc-admin-${this.port}`;
  }
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? "";
}

function cookieOf({ headers: { cookie = "" } }: IncomingMessage, name: string): string | undefined {
  const found = cookie.split(";").map((each) => each.trim().split("="));
  return found.find(([each]) => each === name)?.[1];
}

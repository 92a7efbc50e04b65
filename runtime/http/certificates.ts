import { readFileSync, unwatchFile, watchFile } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import type { CertificateSettings, TlsSettings } from "./tls.ts";

/** How often the files are looked at, and how long a change may settle (two files are rarely written at once). */
const watchInterval = 1000;
const settleTime = 250;

/**
 * The certificates of one bind, read from their files and again when they change. A change that can't be read keeps
 * what was there and is reported.
 */
export class Certificates {
  readonly #settings: TlsSettings;
  #contexts: readonly NamedContext[];
  #settling: NodeJS.Timeout | undefined;
  #changed: () => void = () => {};
  #report: (problem: string) => void = () => {};
  readonly #onFileChange = () => {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#reload(), settleTime);
  };

  /** Reads every file; throws an Error that names the file and what is wrong with it. */
  constructor(settings: TlsSettings) {
    this.#settings = settings;
    this.#contexts = settings.certificates.map(load);
  }

  /** The certificate for connections that name no host: the first one. */
  get first(): CertificateFiles | undefined {
    return this.#contexts[0]?.files;
  }

  /**
   * The context for a server name: its own, else the longest wildcard above it (Gateway API: `*` stands for one or
   * more labels), else `*`, else the first.
   */
  contextFor(serverName: string): SecureContext | undefined {
    const name = serverName.toLowerCase();
    let best = this.#contexts[0];
    let length = -1;
    for (const context of this.#contexts) {
      if (context.hostname === name) return context.context;
      if (context.suffix === undefined || !name.endsWith(context.suffix)) continue;
      if (context.suffix.length <= length) continue;
      best = context;
      length = context.suffix.length;
    }
    return best?.context;
  }

  /** Watches the files: `changed` after new ones were read, `report` when they can't be used. */
  watch(changed: () => void, report: (problem: string) => void): void {
    this.#changed = changed;
    this.#report = report;
    for (const path of this.#paths()) {
      watchFile(path, { interval: watchInterval, persistent: false }, this.#onFileChange);
    }
  }

  close(): void {
    clearTimeout(this.#settling);
    for (const path of this.#paths()) unwatchFile(path, this.#onFileChange);
  }

  #paths(): Set<string> {
    return new Set(this.#settings.certificates.flatMap((one) => [one.certFile, one.keyFile]));
  }

  #reload(): void {
    try {
      this.#contexts = this.#settings.certificates.map(load);
    } catch (error) {
      this.#report(`${error instanceof Error ? error.message : error}; the old one stays in use`);
      return;
    }
    this.#changed();
  }
}

/** A certificate chain and its key, PEM. */
export interface CertificateFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

interface NamedContext {
  readonly hostname: string;
  /** `.example.com` of `*.example.com`; empty of `*`; undefined of an exact name. */
  readonly suffix: string | undefined;
  readonly context: SecureContext;
  readonly files: CertificateFiles;
}

function load(settings: CertificateSettings): NamedContext {
  const hostname = settings.hostname.toLowerCase();
  const files = { cert: read(settings.certFile), key: read(settings.keyFile) };
  try {
    const suffix = hostname.startsWith("*") ? hostname.slice(1) : undefined;
    return { hostname, suffix, files, context: createSecureContext(files) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `certificate ${settings.certFile} with key ${settings.keyFile} can't be used: ${why}`,
    );
  }
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    throw new Error(`${path} can't be read: ${code === "ENOENT" ? "no such file" : code}`);
  }
}

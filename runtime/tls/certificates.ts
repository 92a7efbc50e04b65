import { X509Certificate } from "node:crypto";
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import {
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
  type Server as TlsServer,
} from "node:tls";
import { type HostTable, hostTable, valueForHost } from "../http/routing/host-table.ts";
import { SECOND } from "../process/units.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import { certificateExpiry } from "../telemetry/metrics/table/certificates.ts";
import { readCaCertificates } from "./ca-certificates.ts";
import { type HandshakeHandlers, watchHandshakes } from "./handshakes.ts";
import type { CertificateSettings, TlsSettings } from "./tls-settings.ts";

/** How often the files are looked at, and how long a change may settle (two files are rarely written at once). */
const watchInterval = 1000;
const settleTime = 250;

/** TLS that a port ends, and what reads its files, which no gateway without it carries. */
export interface PortTls {
  readonly settings: TlsSettings;
  /** Throws an Error that says what can't be read. */
  readonly open: () => Certificates;
}

/** Ends TLS at a port. */
export function endTls(settings: TlsSettings): PortTls {
  return { settings, open: () => new Certificates(settings) };
}

/**
 * The certificates of one bind, with what its TLS allows, read from their files and again when they change. A change that can't be read keeps
 * what was there and is reported.
 */
export class Certificates {
  readonly #settings: TlsSettings;
  #contexts: readonly NamedContext[];
  #byName: HostTable<NamedContext>;
  /** The authorities of client certificates, PEM. */
  #authorities: Authorities;
  #settling: NodeJS.Timeout | undefined;
  #changed: () => void = () => {};
  #report: (problem: string) => void = () => {};
  #forgetExpiry: (() => void) | undefined;
  readonly #onFileChange = () => {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#reload(), settleTime);
  };

  /** Reads every file; throws an Error that names the file and what is wrong with it. */
  constructor(settings: TlsSettings) {
    this.#settings = settings;
    this.#authorities = authorities(settings);
    this.#contexts = this.#load(this.#authorities);
    this.#byName = byName(this.#contexts);
  }

  get settings(): TlsSettings {
    return this.#settings;
  }

  /** What a connection gets before its host is known, and keeps when it names none: the first certificate. */
  get defaults(): SecureContextOptions {
    const { minVersion, maxVersion, cipherSuites } = this.#settings;
    return {
      ...this.#contexts[0]?.files,
      ...ca(this.#authorities),
      minVersion,
      maxVersion,
      ciphers: cipherSuites.join(":"),
      honorCipherOrder: true,
    };
  }

  /**
   * The context for a server name: its own, else the longest wildcard above it (Gateway API: `*` stands for one or
   * more labels), else `*`, else the first.
   */
  contextFor(serverName: string): SecureContext | undefined {
    return (valueForHost(this.#byName, serverName.toLowerCase()) ?? this.#contexts[0])?.context;
  }

  /** Watches the files: `changed` after new ones were read, `report` when they can't be used; `metrics` say when they expire. */
  watch(changed: () => void, report: (problem: string) => void, metrics: Metrics): void {
    this.#forgetExpiry = metrics.read(certificateExpiry, () =>
      this.#contexts.map(({ hostname, certFile, expiry }) => [[hostname, certFile], expiry]),
    );
    this.#changed = changed;
    this.#report = report;
    for (const path of this.#paths()) {
      watchFile(path, { interval: watchInterval, persistent: false }, this.#onFileChange);
    }
  }

  /**
   * Counts the handshakes of a server that has these certificates, or those that take their place. What has no certificates
   * has no code for it.
   */
  watchHandshakes(server: TlsServer, handlers: HandshakeHandlers): void {
    watchHandshakes(server, handlers);
  }

  close(): void {
    this.#forgetExpiry?.();
    clearTimeout(this.#settling);
    for (const path of this.#paths()) unwatchFile(path, this.#onFileChange);
  }

  #paths(): Set<string> {
    const { certificates, clients } = this.#settings;
    const own = certificates.flatMap((one) => [one.certFile, one.keyFile]);
    return new Set([...own, ...(clients?.authorities ?? [])]);
  }

  #load(authorities: Authorities): readonly NamedContext[] {
    return this.#settings.certificates.map((settings) => load(settings, authorities));
  }

  #reload(): void {
    try {
      const found = authorities(this.#settings);
      this.#contexts = this.#load(found);
      this.#byName = byName(this.#contexts);
      this.#authorities = found;
    } catch (error) {
      this.#report(`${error instanceof Error ? error.message : error}; the old one stays in use`);
      return;
    }
    this.#changed();
  }
}

/** The authorities of client certificates, PEM; undefined where none are asked for. */
type Authorities = Buffer[] | undefined;

/** A certificate chain and its key, PEM. */
interface CertificateFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

interface NamedContext {
  readonly hostname: string;
  readonly context: SecureContext;
  readonly files: CertificateFiles;
  readonly certFile: string;
  /** Seconds since the epoch. */
  readonly expiry: number;
}

function byName(contexts: readonly NamedContext[]): HostTable<NamedContext> {
  return hostTable(contexts.map((each) => [each.hostname, each]));
}

function authorities({ clients }: TlsSettings): Authorities {
  return clients?.authorities.map((path) => {
    // The message for a file that is not there.
    read(path);
    return readCaCertificates(path);
  });
}

function ca(authorities: Authorities): SecureContextOptions {
  return authorities === undefined ? {} : { ca: authorities };
}

function load(settings: CertificateSettings, authorities: Authorities): NamedContext {
  const { certFile } = settings;
  const hostname = settings.hostname.toLowerCase();
  const files = { cert: read(certFile), key: read(settings.keyFile) };
  try {
    const context = createSecureContext({ ...files, ...ca(authorities) });
    const expiry = new X509Certificate(files.cert).validToDate.getTime() / SECOND;
    return { hostname, files, context, certFile, expiry };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`certificate ${certFile} with key ${settings.keyFile} can't be used: ${why}`);
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

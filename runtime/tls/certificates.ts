import { readFileSync, unwatchFile, watchFile } from "node:fs";
import type { SecureContext, SecureContextOptions, Server as TlsServer } from "node:tls";
import type { Metrics } from "../metrics/metrics.ts";
import { certificateExpiry } from "../metrics/table/certificates.ts";
import { type HostTable, hostTable, valueForHost } from "../net/host-table.ts";
import { mountFolderOf } from "../process/startup-values.ts";
import { SECOND } from "../process/units.ts";
import { UnusableFile } from "../process/unusable-file.ts";
import { readCaCertificates } from "./ca-certificates.ts";
import { readCertificatePair, type UsablePair } from "./certificate-pair.ts";
import { type HandshakeHandlers, watchHandshakes } from "./handshakes.ts";
import type { CertificateSettings, TlsSettings } from "./tls-settings.ts";

/**
 * Milliseconds between two checks of the files, and milliseconds that a change may take to settle (two files are rarely written
 * at once).
 */
const WATCH_INTERVAL = 1000;
const SETTLE_TIME = 250;

/** TLS of a port, with the code that reads its files. Bundles without TLS do not contain it. */
export interface PortTls {
  readonly settings: TlsSettings;
  /** Reads the files. Throws an Error that says which file is unusable. */
  readonly open: () => Certificates;
}

/** Terminates TLS at a port. */
export function endTls(settings: TlsSettings): PortTls {
  return { settings, open: () => new Certificates(settings) };
}

/**
 * Certificates and TLS settings of one bind. Files are read at startup and again when they change. If changed files of the
 * configuration are unusable, the old certificates stay in use. A mounted Secret may belong to another tenant: if it is
 * unusable, handshakes of its names are refused until it is usable again, and no others.
 */
export class Certificates {
  readonly #settings: TlsSettings;
  #contexts: readonly NamedContext[];
  #byName: HostTable<NamedContext>;
  /** Authorities of client certificates, PEM. */
  #authorities: Authorities;
  #settling: NodeJS.Timeout | undefined;
  /** Last reported problems of mounted files. */
  #problems: readonly string[] = [];
  #changed: () => void = () => {};
  #report: (problem: string) => void = () => {};
  #forgetExpiry: (() => void) | undefined;
  readonly #onFileChange = () => {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#reload(), SETTLE_TIME);
  };

  /** Reads every file. Throws an Error that names the file and what is wrong with it, unless it is mounted. */
  constructor(settings: TlsSettings) {
    this.#settings = settings;
    [this.#authorities, this.#contexts] = this.#load();
    this.#byName = byName(this.#contexts);
  }

  get settings(): TlsSettings {
    return this.#settings;
  }

  /** Options of a connection before its server name is known, and of clients that request none: the first certificate. */
  get defaults(): SecureContextOptions {
    const { minVersion, maxVersion, cipherSuites } = this.#settings;
    const [first] = this.#contexts;
    return {
      ...(first?.kind === "usable" && first.files),
      ...(Array.isArray(this.#authorities) && { ca: this.#authorities }),
      minVersion,
      maxVersion,
      ciphers: cipherSuites.join(":"),
      honorCipherOrder: true,
    };
  }

  /**
   * Returns the context for a server name: its own, otherwise the longest matching wildcard (Gateway API: `*` stands for one or
   * more labels), otherwise `*`, otherwise the first. Returns an Error if its mounted files are unusable: the handshake is
   * refused.
   */
  contextFor(serverName: string): SecureContext | UnusableFile | undefined {
    const found = valueForHost(this.#byName, serverName.toLowerCase()) ?? this.#contexts[0];
    return found?.kind === "unusable" ? found.problem : found?.context;
  }

  /**
   * Watches the files. Calls `changed` after new files were read and `report` if they are unusable; `metrics` show when they
   * expire.
   */
  watch(changed: () => void, report: (problem: string) => void, metrics: Metrics): void {
    this.#forgetExpiry = metrics.read(certificateExpiry, () =>
      this.#contexts.flatMap((each) =>
        each.kind === "usable" ? [[[each.hostname, each.certFile], each.expiry]] : [],
      ),
    );
    this.#changed = changed;
    this.#report = report;
    this.#reportProblems();
    for (const path of this.#paths()) {
      watchFile(path, { interval: WATCH_INTERVAL, persistent: false }, this.#onFileChange);
    }
  }

  /**
   * Counts handshakes of a server with these certificates, or with later ones. It is a method so that bundles without TLS do
   * not contain it.
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

  #load(): readonly [Authorities, readonly NamedContext[]] {
    const found = authorities(this.#settings);
    return [found, this.#settings.certificates.map((settings) => load(settings, found))];
  }

  #reload(): void {
    try {
      [this.#authorities, this.#contexts] = this.#load();
      this.#byName = byName(this.#contexts);
    } catch (error) {
      this.#report(`${error instanceof Error ? error.message : error}; the old one stays in use`);
      return;
    }
    this.#reportProblems();
    this.#changed();
  }

  #reportProblems(): void {
    const before = this.#problems;
    const unusable = this.#contexts.filter((each) => each.kind === "unusable");
    this.#problems = [...new Set(unusable.map(({ problem }) => problem.message))];
    for (const each of this.#problems)
      if (!before.includes(each)) this.#report(`${each}; handshakes that need it are refused`);
  }
}

/** Authorities of client certificates, PEM; `undefined` if clients need none. An Error if no handshake can be verified. */
type Authorities = Buffer[] | UnusableFile | undefined;

/** A certificate chain and its key, PEM. */
interface CertificateFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Certificate of a hostname (lower case), or why its mounted files are unusable. */
type NamedContext =
  | UsableContext
  | { readonly kind: "unusable"; readonly hostname: string; readonly problem: UnusableFile };

interface UsableContext {
  readonly kind: "usable";
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
  const paths = clients?.authorities;
  try {
    return paths?.map((path) => {
      // Throws the message for a missing file.
      read(path);
      return readCaCertificates(path);
    });
  } catch (error) {
    return unlessMounted(paths ?? [], error);
  }
}

function load(settings: CertificateSettings, ca: Authorities): NamedContext {
  const { certFile, keyFile } = settings;
  const hostname = settings.hostname.toLowerCase();
  if (ca instanceof UnusableFile) return { kind: "unusable", hostname, problem: ca };
  try {
    const files = { cert: read(certFile), key: read(keyFile) };
    const { certificate, context } = usablePair(files, settings, ca);
    const expiry = certificate.validToDate.getTime() / SECOND;
    return { kind: "usable", hostname, files, context, certFile, expiry };
  } catch (error) {
    return { kind: "unusable", hostname, problem: unlessMounted([certFile, keyFile], error) };
  }
}

function usablePair(
  { cert, key }: CertificateFiles,
  { certFile, keyFile }: CertificateSettings,
  ca: Buffer[] | undefined,
): UsablePair {
  try {
    return readCertificatePair(cert, key, ca);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`certificate ${certFile} with key ${keyFile} can't be used: ${why}`);
  }
}

/** Describes what is wrong with mounted files. Rethrows the error if one of the files is not mounted. */
function unlessMounted(paths: readonly string[], error: unknown): UnusableFile {
  if (!paths.every(mountFolderOf)) throw error;
  return new UnusableFile(paths.join(", "), error instanceof Error ? error.message : String(error));
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    throw new Error(`${path} can't be read: ${code === "ENOENT" ? "no such file" : code}`);
  }
}

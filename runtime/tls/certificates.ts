import { constants } from "node:crypto";
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import type { SecureContext, SecureContextOptions, TLSSocket, Server as TlsServer } from "node:tls";
import type { Metrics } from "../metrics/metrics.ts";
import { certificateExpiry } from "../metrics/table/certificates.ts";
import { type HostTable, hostTable, valueForHost } from "../net/host-table.ts";
import { NoIdentity } from "../process/no-identity.ts";
import { NotIssued } from "../process/not-issued.ts";
import { mountFolderOf } from "../process/startup-values.ts";
import { SECOND } from "../process/units.ts";
import { UnusableFile } from "../process/unusable-file.ts";
import { readCaCertificates } from "./ca-certificates.ts";
import { readCertificatePair, type UsablePair } from "./certificate-pair.ts";
import { type HandshakeHandlers, watchHandshakes } from "./handshakes.ts";
import type { IssuedIdentity, WorkloadIdentity } from "./identity.ts";
import type { IssuedCertificate } from "./issued-certificate.ts";
import type {
  CertificateSettings,
  FileCertificate,
  IdentityCertificate,
  ObtainedCertificate,
  TlsSettings,
} from "./tls-settings.ts";

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
  #forgetSources: readonly (() => void)[] = [];
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
    const { minVersion, maxVersion, cipherSuites, keyExchangeGroups: groups } = this.#settings;
    const [first] = this.#contexts;
    return {
      ...(first?.kind === "usable" && first.pair),
      ...(Array.isArray(this.#authorities) && { ca: this.#authorities }),
      minVersion,
      maxVersion,
      ciphers: cipherSuites.join(":"),
      ...(groups !== undefined && { ecdhCurve: groups.join(":") }),
      honorCipherOrder: true,
      // A resumed session would outlive the client's certificate, which is valid for minutes.
      ...(this.#identities.length > 0 && { secureOptions: constants.SSL_OP_NO_TICKET }),
    };
  }

  /**
   * Returns the context for a server name: its own, otherwise the longest matching wildcard (Gateway API: `*` stands for one or
   * more labels), otherwise `*`, otherwise the first. Returns an Error if its mounted files are unusable, or if there is no
   * identity or no certificate yet: the handshake is refused.
   */
  contextFor(serverName: string): SecureContext | Error | undefined {
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
        each.kind === "usable" && each.certFile !== undefined
          ? [[[each.hostname, each.certFile], each.expiry]]
          : [],
      ),
    );
    this.#changed = changed;
    this.#report = report;
    const sources = [...this.#identities, ...this.#obtained];
    this.#forgetSources = sources.map((each) => each.onChange(() => this.#reload()));
    // They may have changed since the files were read.
    if (sources.length > 0) this.#reload();
    else this.#reportProblems();
    for (const path of this.#paths()) {
      watchFile(path, { interval: WATCH_INTERVAL, persistent: false }, this.#onFileChange);
    }
  }

  /**
   * Counts handshakes of a server with these certificates, or with later ones, and takes the connections of clients with an
   * acceptable certificate. It is a method so that bundles without TLS do not contain it.
   */
  watchHandshakes(server: TlsServer, handlers: HandshakeHandlers): void {
    const { handshakeTimeout: timeout } = this.#settings;
    watchHandshakes(server, handlers, { timeout, problemOf: (socket) => this.#problemOf(socket) });
  }

  /** Returns why a client's certificate is refused although it is verified; `undefined` if it is accepted. */
  #problemOf(socket: TLSSocket): string | undefined {
    const { authorities } = this.#settings.clients ?? {};
    if (authorities === undefined || !("current" in authorities)) return undefined;
    const shown = socket.getPeerX509Certificate();
    return authorities.problemOf({
      names: shown?.subjectAltName ?? "",
      isAuthority: shown?.ca === true,
    });
  }

  close(): void {
    this.#forgetExpiry?.();
    for (const forget of this.#forgetSources) forget();
    clearTimeout(this.#settling);
    for (const path of this.#paths()) unwatchFile(path, this.#onFileChange);
  }

  #paths(): Set<string> {
    const { certificates, clients } = this.#settings;
    const own = certificates.flatMap((one) =>
      "certFile" in one ? [one.certFile, one.keyFile] : [],
    );
    const { authorities = [] } = clients ?? {};
    return new Set("current" in authorities ? own : [...own, ...authorities]);
  }

  /** The identity if a certificate or the clients need it; otherwise none. */
  get #identities(): readonly WorkloadIdentity[] {
    const { certificates, clients } = this.#settings;
    const own = certificates.flatMap((one) => ("identity" in one ? [one.identity] : []));
    const { authorities = [] } = clients ?? {};
    return [...new Set("current" in authorities ? [...own, authorities] : own)];
  }

  get #obtained(): readonly IssuedCertificate[] {
    return this.#settings.certificates.flatMap((one) => ("issued" in one ? [one.issued] : []));
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
type Authorities = (string | Buffer)[] | UnusableFile | NoIdentity | undefined;

/** A certificate chain and its key, PEM. */
interface CertificatePair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Certificate of a hostname (lower case), or why there is none: unusable mounted files, no identity, or none issued yet. */
type NamedContext =
  | UsableContext
  | {
      readonly kind: "unusable";
      readonly hostname: string;
      readonly problem: UnusableFile | NoIdentity | NotIssued;
    };

interface UsableContext {
  readonly kind: "usable";
  readonly hostname: string;
  readonly context: SecureContext;
  readonly pair: CertificatePair;
  /** `acme` for one that was ordered, `undefined` for the identity. */
  readonly certFile?: string;
  /** Seconds since the epoch. */
  readonly expiry: number;
}

function byName(contexts: readonly NamedContext[]): HostTable<NamedContext> {
  return hostTable(contexts.map((each) => [each.hostname, each]));
}

function authorities({ clients }: TlsSettings): Authorities {
  const source = clients?.authorities;
  if (source !== undefined && "current" in source) {
    const issued = issuedNow(source);
    return issued instanceof NoIdentity ? issued : [...issued.authorities];
  }
  try {
    return source?.map((path) => {
      // Throws the message for a missing file.
      read(path);
      return readCaCertificates(path);
    });
  } catch (error) {
    return unlessMounted(source ?? [], error);
  }
}

function load(settings: CertificateSettings, ca: Authorities): NamedContext {
  const hostname = settings.hostname.toLowerCase();
  if (ca instanceof Error) return { kind: "unusable", hostname, problem: ca };
  if ("identity" in settings) return ofIdentity(settings, hostname);
  return "issued" in settings ? ofOrder(settings, hostname, ca) : ofFiles(settings, hostname, ca);
}

function ofOrder(
  { issued }: ObtainedCertificate,
  hostname: string,
  ca: (string | Buffer)[] | undefined,
): NamedContext {
  try {
    const { cert, key } = issued.issued();
    const pair = { cert: Buffer.from(cert), key: Buffer.from(key) };
    const { certificate, context } = readCertificatePair(pair.cert, pair.key, ca);
    const expiry = certificate.validToDate.getTime() / SECOND;
    return { kind: "usable", hostname, pair, context, certFile: "acme", expiry };
  } catch (error) {
    if (error instanceof NotIssued) return { kind: "unusable", hostname, problem: error };
    throw error;
  }
}

function ofIdentity({ identity }: IdentityCertificate, hostname: string): NamedContext {
  const issued = issuedNow(identity);
  if (issued instanceof NoIdentity) return { kind: "unusable", hostname, problem: issued };
  const { context, cert, key, expiry } = issued;
  return { kind: "usable", hostname, context, pair: { cert, key }, expiry: expiry / SECOND };
}

function issuedNow(identity: WorkloadIdentity): IssuedIdentity | NoIdentity {
  try {
    return identity.current();
  } catch (error) {
    if (error instanceof NoIdentity) return error;
    throw error;
  }
}

function ofFiles(
  settings: FileCertificate,
  hostname: string,
  ca: (string | Buffer)[] | undefined,
): NamedContext {
  const { certFile, keyFile } = settings;
  try {
    const pair = { cert: read(certFile), key: read(keyFile) };
    const { certificate, context } = usablePair(pair, settings, ca);
    const expiry = certificate.validToDate.getTime() / SECOND;
    return { kind: "usable", hostname, pair, context, certFile, expiry };
  } catch (error) {
    return { kind: "unusable", hostname, problem: unlessMounted([certFile, keyFile], error) };
  }
}

function usablePair(
  { cert, key }: Readonly<Record<"cert" | "key", Buffer>>,
  { certFile, keyFile }: FileCertificate,
  ca: (string | Buffer)[] | undefined,
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

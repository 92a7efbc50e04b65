import { readFileSync } from "node:fs";
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type PeerCertificate,
  type SecureContext,
} from "node:tls";
import { fileVersion } from "../process/file-version.ts";
import { warn } from "../process/operator-warnings.ts";
import { mountFolderOf } from "../process/startup-values.ts";
import { UnusableFile } from "../process/unusable-file.ts";
import { readCaCertificates } from "./ca-certificates.ts";

/** TLS with an upstream: `backendTLS` of the configuration. Files are PEM, read at start and again when they change. */
export interface UpstreamTlsSettings {
  /** Paths of the authorities that sign the upstream's certificate; absent: those of the system. */
  readonly authorities?: readonly string[];
  /** Paths of the certificate that the gateway shows, and its key. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** SNI, and the name that the certificate has to have; absent: the host of the destination. */
  readonly serverName?: string;
  /** Names of which the certificate has to have one, in the place of the server's name; `URI:...` for a URI. */
  readonly subjectAltNames?: readonly string[];
  /** `chain`: a trusted certificate of any name. `none`: any certificate. */
  readonly verification: "full" | "chain" | "none";
}

/** How often the files are looked at, at most; a connection looks before it is opened. */
const LOOK_INTERVAL = 1000;

/** What connections to one upstream are made with. */
export class UpstreamTls {
  readonly #settings: UpstreamTlsSettings;
  readonly #files: readonly string[];
  #context: SecureContext | undefined;
  readonly #isMounted: boolean;
  /** Why mounted files can't be used. */
  #problem: UnusableFile | undefined;
  #versions = "";
  #lookedAt: number;
  /** The change that could not be used, once it was warned of. */
  #reported = "";

  /** Reads every file; throws an Error that says what can't be read, unless all files are mounted. */
  constructor(settings: UpstreamTlsSettings) {
    const { authorities, certFile, keyFile } = settings;
    this.#settings = settings;
    this.#files = [...(authorities ?? []), certFile, keyFile].filter((path) => path !== undefined);
    this.#isMounted = this.#files.length > 0 && this.#files.every(mountFolderOf);
    this.#lookedAt = performance.now();
    // The authorities of the system take a tenth of a second to read: not before they are needed.
    if (this.#files.length === 0) return;
    try {
      this.#versions = this.#look();
      this.#context = this.#load();
    } catch (error) {
      if (!this.#isMounted) throw error;
      this.#problem = this.#problemOf(error);
    }
  }

  /** Options for a connection to `host` (of the destination's URL). Throws UnusableFile if a mounted file can't be used. */
  optionsFor(host: string): ConnectionOptions {
    this.#renew();
    if (this.#problem !== undefined) throw this.#problem;
    this.#context ??= this.#load();
    const { serverName = host, verification } = this.#settings;
    return {
      secureContext: this.#context,
      // The certificate is checked against an address all the same.
      servername: serverNameOf(serverName),
      rejectUnauthorized: verification !== "none",
      checkServerIdentity: (_name, certificate) => this.#checkIdentity(serverName, certificate),
    };
  }

  #checkIdentity(serverName: string, certificate: PeerCertificate): Error | undefined {
    const { verification, subjectAltNames } = this.#settings;
    if (verification !== "full") return undefined;
    if (subjectAltNames === undefined) return checkServerIdentity(serverName, certificate);
    const found = certificate.subjectaltname?.split(", ") ?? [];
    const isNamed = subjectAltNames.some((name) =>
      name.startsWith("URI:")
        ? found.includes(name)
        : checkServerIdentity(name, certificate) === undefined,
    );
    return isNamed ? undefined : new Error("the certificate has none of the names it has to have");
  }

  /** A change that can't be used, or not yet, leaves what was there, unless it is mounted; it is warned of once. */
  #renew(): void {
    if (this.#files.length === 0 || performance.now() - this.#lookedAt < LOOK_INTERVAL) return;
    this.#lookedAt = performance.now();
    let versions = "absent";
    try {
      versions = this.#look();
      if (versions === this.#versions) return;
      this.#context = this.#load();
      this.#versions = versions;
      this.#problem = undefined;
    } catch (error) {
      if (this.#isMounted) this.#problem = this.#problemOf(error);
      // The next connection looks again.
      if (versions === this.#reported) return;
      this.#reported = versions;
      const why = error instanceof Error ? error.message : String(error);
      const consequence = this.#isMounted
        ? "its connections are refused"
        : "the old ones stay in use";
      warn(`new files of TLS with a backend can't be used: ${why}; ${consequence}`);
    }
  }

  #problemOf(error: unknown): UnusableFile {
    this.#versions = "";
    const why = error instanceof Error ? error.message : String(error);
    return new UnusableFile(this.#files.join(", "), why);
  }

  #look(): string {
    return this.#files.map(fileVersion).join();
  }

  #load(): SecureContext {
    const { authorities, certFile, keyFile } = this.#settings;
    return createSecureContext({
      ca: authorities === undefined ? systemAuthorities() : authorities.map(readCaCertificates),
      ...(certFile === undefined ? {} : { cert: readFileSync(certFile) }),
      ...(keyFile === undefined ? {} : { key: readFileSync(keyFile) }),
    });
  }
}

/** Node's own list too: an image may have none. */
function systemAuthorities(): string[] {
  return [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];
}

/** What a server is told of the name that it is asked by: nothing of an address, which is no name (RFC 6066 3). */
export function serverNameOf(host: string): string {
  const isAddress = host.startsWith("[") || /^[0-9.]+$/.test(host) || host.includes(":");
  return isAddress ? "" : host;
}

import { readFileSync } from "node:fs";
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type PeerCertificate,
  type SecureContext,
} from "node:tls";
import { uriNames } from "../net/alternative-names.ts";
import type { DestinationTls } from "../net/connector.ts";
import { fileVersion } from "../process/file-version.ts";
import { warn } from "../process/operator-warnings.ts";
import { mountFolderOf } from "../process/startup-values.ts";
import { UnusableFile } from "../process/unusable-file.ts";
import { readCaCertificates } from "./ca-certificates.ts";
import type { WorkloadIdentity } from "./identity.ts";

/** TLS with an upstream (`backendTLS`). Files are PEM, read at startup and again when they change. */
export interface UpstreamTlsSettings {
  /** Paths of the authorities that sign the upstream's certificate; the system's authorities if absent. */
  readonly authorities?: readonly string[];
  /** Paths of the gateway's client certificate and its key. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** SNI and required name of the certificate; the host of the destination if absent. */
  readonly serverName?: string;
  /** Names of which the certificate must have one, instead of the server's name; `URI:...` for a URI. */
  readonly subjectAltNames?: readonly string[];
  /** Groups of the key exchange to offer, by OpenSSL's names; OpenSSL's if absent. */
  readonly keyExchangeGroups?: readonly string[];
  /** `chain`: a trusted certificate with any name. `none`: any certificate. */
  readonly verification: "full" | "chain" | "none";
  /** The identity that the gateway shows, and whose trust domain the upstream belongs to; absent with certificates in files. */
  readonly identity?: WorkloadIdentity;
}

/** Opens TLS to an upstream. Reads every file, and throws an Error that says which is unusable, unless all files are mounted. */
export function openUpstreamTls(settings: UpstreamTlsSettings): DestinationTls {
  return settings.identity?.tlsTo(settings) ?? new UpstreamTls(settings);
}

/** Whether a certificate has one of these names: `URI:...` for a URI, otherwise the name of a host. */
export function hasOneOf(names: readonly string[], certificate: PeerCertificate): boolean {
  const uris = uriNames(certificate.subjectaltname ?? "");
  return names.some((name) =>
    name.startsWith(URI)
      ? uris.includes(name.slice(URI.length))
      : checkServerIdentity(name, certificate) === undefined,
  );
}

const URI = "URI:";

/** Milliseconds between two checks of the files; they are checked before a connection is opened. */
const LOOK_INTERVAL = 1000;

/** TLS of connections to one upstream. */
export class UpstreamTls {
  readonly #settings: UpstreamTlsSettings;
  readonly #files: readonly string[];
  #context: SecureContext | undefined;
  readonly #isMounted: boolean;
  /** Why mounted files are unusable. */
  #problem: UnusableFile | undefined;
  #versions = "";
  #lookedAt: number;
  /** Last reported unusable change. */
  #reported = "";

  /** Reads every file. Throws an Error that says which is unusable, unless all files are mounted. */
  constructor(settings: UpstreamTlsSettings) {
    const { authorities, certFile, keyFile } = settings;
    this.#settings = settings;
    this.#files = [...(authorities ?? []), certFile, keyFile].filter((path) => path !== undefined);
    this.#isMounted = this.#files.length > 0 && this.#files.every(mountFolderOf);
    this.#lookedAt = performance.now();
    // Reading the system's authorities takes a tenth of a second, so wait until they are needed.
    if (this.#files.length === 0) return;
    try {
      this.#versions = this.#look();
      this.#context = this.#load();
    } catch (error) {
      if (!this.#isMounted) throw error;
      this.#problem = this.#problemOf(error);
    }
  }

  /**
   * Returns the options for a connection to `host` (of the destination's URL). Throws UnusableFile if a mounted file is
   * unusable.
   */
  optionsFor(host: string): ConnectionOptions {
    this.#renew();
    if (this.#problem !== undefined) throw this.#problem;
    this.#context ??= this.#load();
    const { serverName = host, verification } = this.#settings;
    return {
      secureContext: this.#context,
      // The certificate is verified against an address even without SNI.
      servername: serverNameOf(serverName),
      rejectUnauthorized: verification !== "none",
      checkServerIdentity: (_name, certificate) => this.#checkIdentity(serverName, certificate),
    };
  }

  #checkIdentity(serverName: string, certificate: PeerCertificate): Error | undefined {
    const { verification, subjectAltNames } = this.#settings;
    if (verification !== "full") return undefined;
    if (subjectAltNames === undefined) return checkServerIdentity(serverName, certificate);
    return hasOneOf(subjectAltNames, certificate)
      ? undefined
      : new Error("the certificate has none of the required names");
  }

  /**
   * Reads changed files. If the change is unusable or incomplete, the old files stay in use, unless they are mounted; each
   * problem is logged once.
   */
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
      // The next connection checks again.
      if (versions === this.#reported) return;
      this.#reported = versions;
      const why = error instanceof Error ? error.message : String(error);
      const consequence = this.#isMounted
        ? "connections to it are refused"
        : "the old ones stay in use";
      warn(`changed TLS files of a backend are unusable: ${why}; ${consequence}`);
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
    const { authorities, certFile, keyFile, keyExchangeGroups: groups } = this.#settings;
    return createSecureContext({
      ca: authorities === undefined ? systemAuthorities() : authorities.map(readCaCertificates),
      ...(certFile === undefined ? {} : { cert: readFileSync(certFile) }),
      ...(keyFile === undefined ? {} : { key: readFileSync(keyFile) }),
      ...(groups === undefined ? {} : { ecdhCurve: groups.join(":") }),
    });
  }
}

/** Adds Node's own list, because an image may have none. */
function systemAuthorities(): string[] {
  return [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];
}

/** Returns the server name to request from a host: empty for an address, which is not a name (RFC 6066 3). */
export function serverNameOf(host: string): string {
  const isAddress = host.startsWith("[") || /^[0-9.]+$/.test(host) || host.includes(":");
  return isAddress ? "" : host;
}

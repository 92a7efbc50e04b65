import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { EnrollmentLog } from "../process/enrollment.ts";
import { SECOND } from "../process/units.ts";
import { UpstreamTls } from "../tls/upstream-tls.ts";
import type { Validity } from "../tls/validity.ts";
import type { WorkloadCertificate, WorkloadContext } from "../tls/workload-tls.ts";
import { meshOf } from "./mesh.ts";
import type { Mesh } from "./open-mesh.ts";

/** A mesh whose certificates are written and renewed in a folder of the pod. */
export interface MeshFilesSettings {
  readonly folder: string;
  readonly trustDomain: string;
}

/** Creates the mesh of certificates in a folder. */
export function meshOfFiles(settings: MeshFilesSettings): Mesh {
  return meshOf(settings.trustDomain, {
    settings,
    open: (log) => new FileCertificate(settings.folder, log),
  });
}

/** Names of the files: those of Kubernetes Secrets and cert-manager's driver, otherwise those of Istio's agent. */
const NAMES = [
  { cert: "tls.crt", key: "tls.key", authorities: "ca.crt" },
  { cert: "cert-chain.pem", key: "key.pem", authorities: "root-cert.pem" },
] as const;

/** A certificate in files. It waits until they exist; a change takes effect with the next connection. */
class FileCertificate implements WorkloadCertificate {
  readonly #folder: string;
  readonly #log: EnrollmentLog;
  #tls: UpstreamTls | undefined;
  #certFile = "";
  #timer: NodeJS.Timeout | undefined;
  #logged = "";

  constructor(folder: string, log: EnrollmentLog) {
    this.#folder = folder;
    this.#log = log;
    this.#look();
  }

  get context(): WorkloadContext {
    const context = this.#tls?.optionsFor("").secureContext;
    if (context === undefined) throw new Error("there is no certificate of the mesh yet");
    return context;
  }

  get isReady(): boolean {
    return this.#tls !== undefined;
  }

  get validity(): Validity | undefined {
    if (this.#tls === undefined) return undefined;
    try {
      const { validFromDate, validToDate } = new X509Certificate(readFileSync(this.#certFile));
      return { start: validFromDate.getTime(), expiry: validToDate.getTime() };
    } catch {
      // The files may be in the middle of a write.
      return undefined;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    try {
      const file = (name: string) => path.join(this.#folder, name);
      const names = NAMES.find(({ cert }) => existsSync(file(cert))) ?? NAMES[0];
      this.#certFile = file(names.cert);
      this.#tls = new UpstreamTls({
        certFile: this.#certFile,
        keyFile: file(names.key),
        authorities: [file(names.authorities)],
        verification: "full",
      });
      this.#log.info(`certificate of the mesh in ${this.#certFile}`);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== this.#logged)
        this.#log.warn(`no certificate of the mesh: ${problem}; retrying`);
      this.#logged = problem;
      this.#timer = setTimeout(() => this.#look(), SECOND);
      this.#timer.unref();
    }
  }
}

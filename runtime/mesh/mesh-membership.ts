import type { Metrics } from "../metrics/metrics.ts";
import { type MeshTls, offerMesh } from "../net/joined-mesh.ts";
import type { PreparedChange } from "../process/prepared-change.ts";

/** The mesh that a gateway is a part of: pods of it are connected to by mutual TLS. */
export interface Mesh {
  /** The same for meshes that are opened in the same way. */
  readonly key: string;
  /** What a running gateway is a part of: of no mesh yet. */
  membership(log: MeshLog, metrics: Metrics): MeshMembership;
  /** Begins to have a certificate; `metrics` say how long it is valid. Throws StartupError where it could never get one. */
  open(log: MeshLog, metrics: Metrics): OpenMesh;
}

/** Takes what an operator is to know. Never with a token or a key. */
export interface MeshLog {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
}

/** A mesh with a certificate, or on its way to one. */
export interface OpenMesh {
  readonly key: string;
  readonly tls: MeshTls;
  /** Whether there ever was a certificate: until then no requests are wanted. */
  readonly isReady: boolean;
  close(): void;
}

/** The mesh that a running gateway is a part of, from one definition to the next. */
export class MeshMembership {
  readonly #log: MeshLog;
  readonly #metrics: Metrics;
  readonly #withdraw: () => void;
  #open: OpenMesh | undefined;

  constructor(log: MeshLog, metrics: Metrics) {
    this.#log = log;
    this.#metrics = metrics;
    this.#withdraw = offerMesh(() => this.#open?.tls);
  }

  /** Whether requests are wanted: it is in no mesh now, or there ever was a certificate of it. */
  get isReady(): boolean {
    return this.#open?.isReady !== false;
  }

  /** Begins to be a part of this mesh, and is it once that is committed. Throws StartupError, with everything as it was. */
  prepare(mesh: Mesh | undefined): PreparedChange {
    const before = this.#open;
    const next = mesh?.key === before?.key ? before : mesh?.open(this.#log, this.#metrics);
    return {
      commit: () => {
        this.#open = next;
        if (next !== before) before?.close();
      },
      abort: () => {
        if (next !== before) next?.close();
      },
    };
  }

  close(): void {
    this.#withdraw();
    this.#open?.close();
  }
}

import type { Metrics } from "../metrics/metrics.ts";
import { type MeshTls, offerMesh } from "../net/joined-mesh.ts";
import type { PreparedChange } from "../process/prepared-change.ts";

/** The mesh of a gateway. Connections to its pods use mutual TLS. */
export interface Mesh {
  /** Identifies the settings: equal for meshes that are opened in the same way. */
  readonly key: string;
  /** Creates the membership of a running gateway, at first of no mesh. */
  membership(log: MeshLog, metrics: Metrics): MeshMembership;
  /** Starts to obtain a certificate; `metrics` report its validity. Throws StartupError if that can never succeed. */
  open(log: MeshLog, metrics: Metrics): OpenMesh;
}

/** Log for operators. Never pass a token or a key. */
export interface MeshLog {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
}

/** A mesh that has a certificate or waits for one. */
export interface OpenMesh {
  readonly key: string;
  readonly tls: MeshTls;
  /** Whether a certificate was ever available: before that, requests should not be sent here. */
  readonly isReady: boolean;
  close(): void;
}

/** The mesh of a running gateway across reloads. */
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

  /** Whether the gateway can take requests: it belongs to no mesh, or a certificate was available once. */
  get isReady(): boolean {
    return this.#open?.isReady !== false;
  }

  /** Opens this mesh; it takes effect on commit. Throws StartupError and changes nothing if it cannot be opened. */
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

import type { Mesh, MeshLog, OpenMesh } from "../mesh/mesh.ts";
import { joinMesh } from "../net/joined-mesh.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import type { PreparedChange } from "./listeners.ts";

/** The mesh that a running gateway is a part of, from one definition to the next. */
export class MeshMembership {
  readonly #log: MeshLog;
  readonly #metrics: Metrics;
  #open: OpenMesh | undefined;

  constructor(log: MeshLog, metrics: Metrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /** Whether requests are wanted: there is no mesh, or there ever was a certificate of it. */
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
        joinMesh(next?.tls);
        if (next !== before) before?.close();
      },
      abort: () => {
        if (next !== before) next?.close();
      },
    };
  }

  close(): void {
    this.#open?.close();
  }
}

import type { Mesh, MeshLog, OpenMesh } from "../mesh/mesh.ts";
import { joinMesh } from "../net/joined-mesh.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";

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

  /** Serves as a part of this mesh; when it can't, all is as it was. Rejects with what `serve` rejects with, or StartupError. */
  async serve<Served>(mesh: Mesh | undefined, serve: () => Promise<Served>): Promise<Served> {
    const before = this.#open;
    const next = mesh?.key === before?.key ? before : mesh?.open(this.#log, this.#metrics);
    this.#join(next);
    try {
      const served = await serve();
      if (next !== before) before?.close();
      return served;
    } catch (error) {
      this.#join(before);
      if (next !== before) next?.close();
      throw error;
    }
  }

  close(): void {
    this.#open?.close();
  }

  #join(mesh: OpenMesh | undefined): void {
    this.#open = mesh;
    joinMesh(mesh?.tls);
  }
}

import type { MeshTls } from "../net/joined-mesh.ts";
import type { Enrollable, Enrolled } from "../process/enrollment.ts";

/** The mesh of a gateway. Connections to its pods use mutual TLS. */
export type Mesh = Enrollable<OpenMesh>;

/** A mesh that has a certificate or waits for one. */
export interface OpenMesh extends Enrolled {
  readonly tls: MeshTls;
}

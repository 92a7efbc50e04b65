import type { MeshTls } from "../tls/workload-tls.ts";

/** The mesh that the process is a part of, where it is a part of one. */
const ofProcess: { mesh: MeshTls | undefined } = { mesh: undefined };

/** Says of which mesh the process is a part from now on. */
export function joinMesh(mesh: MeshTls | undefined): void {
  ofProcess.mesh = mesh;
}

/** How connections to pods of the mesh are made; undefined: the process is in none. */
export function joinedMesh(): MeshTls | undefined {
  return ofProcess.mesh;
}

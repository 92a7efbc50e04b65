import type { ConnectionOptions } from "node:tls";

/** How connections to the pods of a mesh are made. */
export interface MeshTls {
  /**
   * Options for a connection to a pod of an account (`NAMESPACE/NAME`), at which `host` was asked for. Throws an Error while
   * there is no certificate that the gateway could show.
   */
  optionsFor(account: string, host: string): ConnectionOptions;
}

/** That of the mesh which the process is a part of, where it is a part of one. */
const ofProcess: { mesh: MeshTls | undefined } = { mesh: undefined };

/** Says of which mesh the process is a part from now on. */
export function joinMesh(mesh: MeshTls | undefined): void {
  ofProcess.mesh = mesh;
}

/** How connections to pods of a mesh are made; undefined: the process is in none. */
export function meshTls(): MeshTls | undefined {
  return ofProcess.mesh;
}

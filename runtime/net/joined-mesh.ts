import type { ConnectionOptions } from "node:tls";
import { OfferedValue } from "../process/offered-values.ts";

/** Mutual TLS with the pods of a mesh. */
export interface MeshTls {
  /**
   * Returns the options for a connection to a pod of an account (`NAMESPACE/NAME`), where `host` is the name that was looked
   * up. Throws an Error while the gateway has no valid certificate.
   */
  optionsFor(account: string, host: string): ConnectionOptions;
}

const MESH = new OfferedValue<MeshTls>("gwc:mesh");

/** The mesh that the running gateway belongs to; `undefined` if it belongs to none. */
export function joinedMesh(): MeshTls | undefined {
  return MESH.current;
}

/** Makes connections to pods use the mesh that `mesh` returns, until the returned function is called. */
export function offerMesh(mesh: () => MeshTls | undefined): () => void {
  return MESH.offer(mesh);
}

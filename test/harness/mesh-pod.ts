import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { TLSSocket } from "node:tls";
import { listen } from "./listen.ts";
import type { MeshAuthority } from "./mesh-authority.ts";

/** A pod of a mesh. */
export interface MeshPodServer {
  readonly port: number;
  readonly server: Server;
  /** The serial numbers of the certificates that its clients have shown, each once. */
  readonly shown: Set<string>;
}

/**
 * A server that takes nobody without a certificate of the mesh, as a sidecar in strict mode. It answers with who asks, by
 * what name of ALPN.
 */
export async function startMeshPod(
  authority: MeshAuthority,
  spiffeId: string,
  /** The address that it listens on; loopback unless given. */
  address?: string,
): Promise<MeshPodServer> {
  const name = spiffeId.replace(/[^a-z]+/g, "-");
  const { cert, key } = authority.issueFiles(name, spiffeId);
  const shown = new Set<string>();
  const options = { cert, key, ca: readFileSync(authority.root), requestCert: true };
  const server = createServer({ ...options, ALPNProtocols: ["istio"] }, ({ socket }, response) => {
    if (!(socket instanceof TLSSocket)) throw new Error("not encrypted");
    const { subjectaltname, serialNumber } = socket.getPeerCertificate();
    shown.add(serialNumber);
    response.end(`${subjectaltname} by ${socket.alpnProtocol}`);
  });
  return { port: await listen(server, address), server, shown };
}

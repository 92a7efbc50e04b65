import { readFileSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import { createServer, type Server } from "node:https";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
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

/** The same for HTTP/2 within, which its clients know beforehand: the port where it listens. */
export async function startMeshHttp2Pod(
  authority: MeshAuthority,
  spiffeId: string,
): Promise<number> {
  const { cert, key } = authority.issueFiles("http2-pod", spiffeId);
  const http2 = createHttp2Server((request, response) => {
    response.end(`HTTP/${request.httpVersion}`);
  });
  const options = { cert, key, ca: readFileSync(authority.root), requestCert: true };
  const sidecar = createTlsServer({ ...options, ALPNProtocols: ["istio"] }, (socket) => {
    http2.emit("connection", socket);
  });
  return listen(sidecar);
}

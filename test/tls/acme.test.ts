import { statSync } from "node:fs";
import path from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { expect, it } from "vitest";
import { AcmeServer } from "../harness/acme-server.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** How a gateway with ordered certificates is started. */
interface AcmeGateway {
  readonly acme: AcmeServer;
  readonly names?: readonly string[];
  /** Folder of its state; a new one unless given. */
  readonly state?: string;
  /** Port without TLS; the one that the ACME server asks, unless given. */
  readonly httpPort?: number;
  readonly securePort?: number;
  readonly config?: object;
  readonly account?: object;
  readonly env?: Readonly<Record<string, string>>;
}

async function startWithAcme({
  acme,
  names = ["shop.example.com"],
  state = temporaryFolder(),
  httpPort = acme.httpPort,
  securePort = acme.tlsPort,
  config = {},
  account = {},
  env = {},
}: AcmeGateway): Promise<Gateway> {
  return startGateway({
    config: {
      config: {
        acme: {
          directory: acme.directory,
          root: acme.root,
          email: "ops@example.com",
          termsOfServiceAgreed: true,
          ...account,
        },
        ...config,
      },
      gateways: {
        web: { port: httpPort },
        default: { port: securePort, protocol: "HTTPS", tls: { acme: { names } } },
      },
      routes: [
        {
          name: "shop",
          gateways: ["web", "default"],
          policies: { directResponse: { status: 200, body: "served" } },
        },
      ],
    },
    env: { GWC_STATE_DIR: state, ...env },
  });
}

/** Returns the certificate that a port shows for a name; rejects if the handshake fails. */
function shown(port: number, servername: string, ca?: string): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
    const socket = connect({ port, host: "127.0.0.1", servername, ...trust }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

it("a certificate for several names is ordered, and clients verify it", async () => {
  const acme = await AcmeServer.start();
  const gateway = await startWithAcme({ acme, names: ["shop.example.com", "www.example.com"] });
  await gateway.seen(/the certificate of shop\.example\.com, www\.example\.com is valid until/);
  const issuer = await acme.issuer();
  for (const name of ["shop.example.com", "www.example.com"])
    expect((await shown(acme.tlsPort, name, issuer)).subjectaltname).toBe(
      "DNS:shop.example.com, DNS:www.example.com",
    );
  expect(acme.issued).toBe(1);
});

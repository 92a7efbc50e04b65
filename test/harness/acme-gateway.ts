import { readdirSync } from "node:fs";
import path from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { AcmeRecords, digest, type StoredCertificate } from "../../runtime/acme/acme-records.ts";
import { openEmbeddedStore } from "../../runtime/store/embedded-store.ts";
import type { AcmeServer } from "./acme-server.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** How a gateway with an ordered certificate is started. */
export interface AcmeGateway {
  readonly acme: Pick<AcmeServer, "directory" | "root" | "httpPort" | "tlsPort">;
  readonly use?: object;
  /** Folder of its state; a new one unless given. */
  readonly state?: string;
  /** Port without TLS, the one that the ACME server asks unless given; none if undefined. */
  readonly httpPort?: number | undefined;
  readonly securePort?: number;
  readonly tls?: object;
  readonly account?: object;
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
}

/** Name of the certificates, unless others are given. */
export const SHOP = "shop.example.com";

/** Starts a gateway with an ordered certificate. */
export function startWithAcme({
  state = temporaryFolder(),
  env,
  ...rest
}: AcmeGateway): Promise<Gateway> {
  return startGateway({ config: configOf(rest), env: { GWC_STATE_DIR: state, ...env } });
}

/** Returns its configuration. */
export function configOf({
  acme,
  use = { names: [SHOP] },
  tls,
  account,
  config,
  ...ports
}: AcmeGateway) {
  const { directory, root, httpPort: asked, tlsPort } = acme;
  const { httpPort, securePort = tlsPort } = { httpPort: asked, ...ports };
  return {
    config: {
      acme: { directory, root, email: "ops@example.com", termsOfServiceAgreed: true, ...account },
      ...config,
    },
    gateways: {
      ...(httpPort !== undefined && { web: { port: httpPort } }),
      default: { port: securePort, protocol: "HTTPS", tls: { acme: use, ...tls } },
    },
    routes: [{ name: "shop", policies: { directResponse: { status: 200, body: "served" } } }],
  };
}

/** Returns the certificate that a port shows for a name; rejects if the handshake fails. */
export function shown(
  port: number,
  servername: string,
  ca?: string,
  maxVersion: "TLSv1.2" | "TLSv1.3" = "TLSv1.3",
): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
    const socket = connect({ port, host: "127.0.0.1", servername, maxVersion, ...trust }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** Waits for a certificate in the log, from a place of the output on. */
export async function issued(gateway: Gateway, from = 0): Promise<void> {
  await gateway.seen(/the certificate of \S+ is valid until/, from);
}

/** Names of the files of the store in a folder, the database first. */
export function storeFiles(state: string): readonly string[] {
  return readdirSync(state)
    .filter((name) => name.includes(".store.sqlite"))
    .sort();
}

/** Opens the state of a gateway that does not run. */
export async function withRecords<Result>(
  state: string,
  work: (records: AcmeRecords) => Promise<Result>,
): Promise<Result> {
  const store = openEmbeddedStore(path.join(state, storeFiles(state)[0] ?? ""));
  try {
    return await work(new AcmeRecords(store, [Buffer.alloc(32)]));
  } finally {
    await store.close();
  }
}

/** Changes the stored certificate of a gateway that does not run, as if time had passed. */
export async function rewrite(
  state: string,
  { directory }: Pick<AcmeServer, "directory">,
  change: (stored: StoredCertificate) => StoredCertificate,
): Promise<StoredCertificate> {
  const id = digest(directory, SHOP);
  return withRecords(state, async (records) => {
    const stored = await records.certificate(id);
    if (stored === undefined) throw new Error("there is no certificate");
    await records.writeCertificate(id, change(stored));
    return stored;
  });
}

import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { makeCertificate } from "../harness/certificate.ts";
import { listen } from "../harness/listen.ts";
import { tell } from "../harness/tell.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A folder with authorities, and a server that their certificate is for. */
export async function secureUpstream(options: object = {}) {
  const folder = temporaryFolder();
  makeCertificate(folder, "ca");
  makeCertificate(folder, "other-ca");
  makeCertificate(folder, "server", {
    signer: "ca",
    names: "DNS:backend.test,DNS:localhost,URI:spiffe://test/backend",
  });
  makeCertificate(folder, "expired", { signer: "ca", names: "DNS:localhost", days: "-1" });
  makeCertificate(folder, "client", { signer: "ca" });
  const file = (name: string) => readFileSync(join(folder, name));
  const server = createServer(
    { cert: file("server.pem"), key: file("server.key"), ca: file("ca.pem"), ...options },
    tell,
  );
  const port = await listen(server);
  return { folder, port, server, file };
}

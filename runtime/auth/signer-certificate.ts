import { createHash, type KeyObject, type X509Certificate } from "node:crypto";
import { startupError } from "../process/startup-error.ts";
import { WatchedFile } from "../process/watched-file.ts";
import { pemCertificates } from "../tls/ca-certificates.ts";

/** Header of a signed token that shows the certificate of its key (RFC 7515 4.1.6, 4.1.8). */
export type CertificateHeader = "x5c" | "x5t#S256";

/** Returns the parameters of the header for a key. Throws an Error if the certificate belongs to another key. */
export type SignerCertificate = (key: KeyObject) => CertificateParameters;

/** Parameters of the header. */
interface CertificateParameters {
  readonly x5c?: string[];
  readonly "x5t#S256"?: string;
}

/** Reads a chain of certificates (PEM), that of the key first. Throws StartupError; the message does not contain it. */
export function signerCertificate(pem: string, header: CertificateHeader): SignerCertificate {
  try {
    const chain = readChain(pem);
    return (key) => shown(chain, header, key);
  } catch (error) {
    throw startupError(
      `a certificate for signed tokens ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Watches a file with a chain of certificates (PEM). Throws StartupError. */
export function signerCertificateFile(path: string, header: CertificateHeader): SignerCertificate {
  const followed = new WatchedFile(path, readChain);
  return (key) => shown(followed.current(), header, key);
}

/** Returns the certificates, that of the key first. */
function readChain(pem: string): readonly X509Certificate[] {
  const found = pemCertificates(pem);
  if (found.kind === "problem") throw new Error(found.problem);
  return found.certificates;
}

function shown(
  chain: readonly X509Certificate[],
  header: CertificateHeader,
  key: KeyObject,
): CertificateParameters {
  const [own] = chain;
  if (own?.checkPrivateKey(key) !== true)
    throw new Error("the certificate for signed tokens belongs to another key");
  return header === "x5c"
    ? { x5c: chain.map(({ raw }) => raw.toString("base64")) }
    : { "x5t#S256": createHash("sha256").update(own.raw).digest("base64url") };
}

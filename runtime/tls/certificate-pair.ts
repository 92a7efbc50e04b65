import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { pemCertificates } from "./ca-certificates.ts";

/** A certificate chain and its private key, ready for handshakes. */
export interface UsablePair {
  readonly certificate: X509Certificate;
  readonly context: SecureContext;
}

/**
 * Reads a certificate chain and its private key, PEM. `ca`: authorities of client certificates. Throws an Error in an
 * operator's words, without the content.
 */
export function readCertificatePair(
  cert: Buffer,
  key: Buffer,
  ca: (string | Buffer)[] | undefined,
): UsablePair {
  const found = pemCertificates(cert.toString("latin1"));
  if (found.kind === "problem") throw new Error(`its PEM ${found.problem}`);
  const [certificate] = found.certificates;
  const privateKey = readPrivateKey(key);
  if (certificate?.checkPrivateKey(privateKey) !== true)
    throw new Error("the private key does not belong to the certificate");
  return { certificate, context: createSecureContext({ cert, key, ...(ca && { ca }) }) };
}

function readPrivateKey(pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    const isEncrypted = /ENCRYPTED/.test(pem.toString("latin1"));
    throw new Error(
      isEncrypted ? "the private key is encrypted" : "the private key is not valid PEM",
    );
  }
}

import { createPrivateKey, X509Certificate } from "node:crypto";
import type { X509SVID } from "../grpc/gen/spiffe/workload_pb.ts";
import { uriNames } from "../net/alternative-names.ts";
import type { IssuedIdentity } from "../tls/identity.ts";
import { workloadContext } from "../tls/workload-tls.ts";

/**
 * Reads an identity: a chain of certificates, a key (PKCS #8) and the authorities of the trust domain, all DER. Throws an Error
 * that says why it is unusable, without the key.
 */
export function readX509Svid({
  spiffeId,
  x509Svid,
  x509SvidKey,
  bundle,
}: X509SVID): IssuedIdentity {
  const trustDomain = TRUST_DOMAIN.exec(spiffeId)?.[1];
  if (trustDomain === undefined) throw new Error("its SPIFFE ID is malformed");
  const chain = certificates(x509Svid);
  const authorities = certificates(bundle).map(String);
  const [leaf] = chain;
  if (leaf === undefined) throw new Error("it has no certificate");
  if (authorities.length === 0) throw new Error(`it has no authorities of ${trustDomain}`);
  if (uriNames(leaf.subjectAltName ?? "").join() !== spiffeId)
    throw new Error("its certificate is for another SPIFFE ID");
  const privateKey = keyOf(x509SvidKey);
  if (!leaf.checkPrivateKey(privateKey)) throw new Error("its key belongs to another certificate");
  const expiry = leaf.validToDate.getTime();
  if (expiry <= Date.now()) throw new Error("its certificate has expired");
  const cert = chain.map(String).join("");
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const context = workloadContext(cert, key, authorities);
  const start = leaf.validFromDate.getTime();
  return { spiffeId, trustDomain, cert, key, authorities, context, start, expiry };
}

/** A SPIFFE ID of a workload (SPIFFE-ID 2): a trust domain and a path. */
const TRUST_DOMAIN = /^spiffe:\/\/([a-z0-9._-]{1,255})(?:\/[a-zA-Z0-9._-]+)+$/;

function keyOf(bytes: Uint8Array) {
  try {
    return createPrivateKey({ key: Buffer.from(bytes), format: "der", type: "pkcs8" });
  } catch {
    // OpenSSL's message may quote its input.
    throw new Error("its key is malformed");
  }
}

/** Reads certificates that follow each other. */
function certificates(bytes: Uint8Array): readonly X509Certificate[] {
  const found: X509Certificate[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const size = elementSize(rest);
    try {
      found.push(new X509Certificate(rest.subarray(0, size)));
    } catch {
      throw new Error("one of its certificates is malformed");
    }
    rest = rest.subarray(size);
  }
  return found;
}

/** Returns the bytes of the first element, header included (X.690 8.1.3). At least one, so that a reader advances. */
function elementSize([, first = 0, ...rest]: Uint8Array): number {
  if (first < LONG) return HEADER + first;
  const digits = rest.slice(0, first - LONG);
  return HEADER + digits.length + digits.reduce((size, digit) => size * 256 + digit, 0);
}

/** Bytes of the tag and of a short length, and the bit that marks a long one. */
const HEADER = 2;
const LONG = 0x80;

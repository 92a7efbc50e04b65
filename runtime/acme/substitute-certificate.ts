import { X509Certificate } from "node:crypto";
import type { IssuedPair } from "../tls/issued-certificate.ts";

/**
 * Returns the certificate that serves most of the names until there is one for all of them; `undefined` if none serves any. Of
 * equal ones, the one that is valid longest. Expired ones are the last resort.
 */
export function substituteFor(
  names: readonly string[],
  candidates: readonly IssuedPair[],
): IssuedPair | undefined {
  const now = Date.now();
  const ranked = candidates.flatMap((pair) => {
    const certificate = parsed(pair);
    if (certificate === undefined) return [];
    const served = names.filter((name) => certificate.checkHost(name) !== undefined).length;
    const expiry = certificate.validToDate.getTime();
    return served === 0 ? [] : [{ pair, isValid: Number(expiry > now), served, expiry }];
  });
  const [best] = ranked.sort(
    (a, b) => b.isValid - a.isValid || b.served - a.served || b.expiry - a.expiry,
  );
  return best?.pair;
}

function parsed({ cert }: IssuedPair): X509Certificate | undefined {
  try {
    return new X509Certificate(cert);
  } catch {
    // A damaged record of the store must not prevent the start.
    return undefined;
  }
}

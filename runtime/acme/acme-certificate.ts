import { channel } from "node:diagnostics_channel";
import { NotIssued } from "../process/not-issued.ts";
import { OfferedValue } from "../process/offered-values.ts";
import type { IssuedCertificate, IssuedPair } from "../tls/issued-certificate.ts";

/** The certificates of the running gateway, by `certificateKey` of their names. */
export type IssuedCertificates = ReadonlyMap<string, IssuedPair>;

const CERTIFICATES = new OfferedValue<IssuedCertificates>("gwc:acme-certificates");
const CHANGED = channel("gwc:acme-certificates-changed");

/** Makes listeners use these certificates, until the returned function is called. The last offer counts. */
export function offerCertificates(certificates: IssuedCertificates): () => void {
  return CERTIFICATES.offer(() => certificates);
}

/** Notifies listeners that other certificates are offered. */
export function certificatesChanged(): void {
  CHANGED.publish(undefined);
}

/** Returns what identifies a certificate of a gateway: its names, in any order. */
export function certificateKey(names: readonly string[]): string {
  return [...names].sort().join(",");
}

/**
 * The certificate for these names, which `processAcme` obtains.
 *
 * @example
 * const certificates = [{ hostname: "*", issued: acmeCertificate(["shop.example.com", "www.example.com"]) }];
 */
export function acmeCertificate(names: readonly string[]): IssuedCertificate {
  const key = certificateKey(names);
  return {
    issued() {
      const pair = CERTIFICATES.current?.get(key);
      if (pair === undefined)
        throw new NotIssued(`there is no certificate for ${names.join(", ")} yet`);
      return pair;
    },
    onChange(listener) {
      const respond = () => listener();
      CHANGED.subscribe(respond);
      return () => {
        CHANGED.unsubscribe(respond);
      };
    },
  };
}

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** Reads the certificates of authorities in a PEM file. Throws an Error that says what is wrong, without the content. */
export function readCaCertificates(path: string): Buffer {
  const bytes = readFileSync(path);
  const found = pemCertificates(bytes.toString("latin1"));
  if (found.kind === "problem") throw new Error(`${path} ${found.problem}`);
  return bytes;
}

/** The certificates of a PEM string in order, at least one; or what is wrong with it. */
export type PemCertificates =
  | { readonly kind: "certificates"; readonly certificates: readonly X509Certificate[] }
  | { readonly kind: "problem"; readonly problem: string };

/**
 * Parses the certificates of a PEM string. Node takes what it can parse and ignores the rest, so a half-written file would mean
 * no authority: this requires that all of it is valid.
 */
export function pemCertificates(text: string): PemCertificates {
  const begun = text.match(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/g)?.length ?? 0;
  const blocks = text.match(WHOLE) ?? [];
  if (begun === 0) return { kind: "problem", problem: "holds no certificate" };
  if (blocks.length < begun) return { kind: "problem", problem: "ends within a certificate" };
  try {
    const certificates = blocks.map((block) => new X509Certificate(block));
    return { kind: "certificates", certificates };
  } catch {
    return { kind: "problem", problem: "holds a certificate that can't be read" };
  }
}

const WHOLE = /-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[^-]*-----END \1-----/g;

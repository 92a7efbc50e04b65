import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/**
 * The certificates of authorities in a PEM file. Node takes what it can read of such a file and no more, which would be
 * no authority at all for one that is half written: here the file has to be whole. Throws an Error that says what is
 * wrong, without the text.
 */
export function readCaCertificates(path: string): Buffer {
  const bytes = readFileSync(path);
  const text = bytes.toString("latin1");
  const begun = text.match(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/g)?.length ?? 0;
  const blocks = text.match(whole) ?? [];
  if (begun === 0) throw new Error(`${path} holds no certificate`);
  if (blocks.length < begun) throw new Error(`${path} ends within a certificate`);
  for (const block of blocks) {
    try {
      void new X509Certificate(block);
    } catch {
      throw new Error(`${path} holds a certificate that can't be read`);
    }
  }
  return bytes;
}

const whole = /-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[^-]*-----END \1-----/g;

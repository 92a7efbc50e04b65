import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import { pemCertificates } from "../../../runtime/tls/ca-certificates.ts";
import {
  childOf,
  type Diagnostics,
  type Origin,
  type Place,
} from "../../diagnostics/diagnostic.ts";
import type { MessageCode, MessageParams } from "../../diagnostics/messages/index.ts";
import type { Host } from "../../host.ts";

/** What finding and reading files that a configuration names needs. */
export interface FileLookup {
  readonly host: Host;
  readonly diagnostics: Diagnostics;
  readonly resolvePath: (name: string, at: Place) => string;
}

/** Paths, as configured, of a certificate chain, its private key, and authorities; what is undefined is not on disk. */
interface TlsFiles {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly root?: string | undefined;
}

/** Reads the files of TLS that are here and reports what no handshake could use; `origin` has a child for each part. */
export function checkTlsFiles(
  { cert, key, root }: TlsFiles,
  origin: Origin,
  context: FileLookup,
): void {
  const [certAt, keyAt, rootAt] = [
    childOf(origin, "cert"),
    childOf(origin, "key"),
    childOf(origin, "root"),
  ];
  const chain = cert === undefined ? [] : readCertificates(cert, certAt, context);
  const privateKey = key === undefined ? undefined : readKey(key, keyAt, context);
  const authorities = root === undefined ? [] : readCertificates(root, rootAt, context);
  const [own] = chain;
  if (own !== undefined && cert !== undefined) {
    checkDates(own, cert, certAt, context);
    if (privateKey !== undefined && key !== undefined && !own.checkPrivateKey(privateKey)) {
      reportOnce("other-key", keyAt, { cert, key }, context.diagnostics);
    }
  }
  // Old authorities may stand beside new ones: the one that lasts longest counts.
  const newest = authorities.toSorted((a, b) => endOf(b) - endOf(a))[0];
  if (newest !== undefined && root !== undefined) checkDates(newest, root, rootAt, context);
}

/** The text of a file that is read when the gateway starts; undefined, with a warning, when it is not here. */
export function readWhatIsHere(
  file: string,
  at: Place,
  { host, diagnostics, resolvePath }: FileLookup,
): string | undefined {
  const found = host.readText(resolvePath(file, at));
  if (found.kind === "text") return found.text;
  diagnostics.report("file-not-here", at, { file, problem: found.problem });
  return undefined;
}

function readCertificates(
  file: string,
  at: Place,
  context: FileLookup,
): readonly X509Certificate[] {
  const text = readWhatIsHere(file, at, context);
  if (text === undefined) return [];
  const found = pemCertificates(text);
  if (found.kind === "certificates") return found.certificates;
  const hint = CERTIFICATE.test(text)
    ? "write the file again, whole"
    : text.includes(BEGIN)
      ? "this is something else; name the file of the certificate"
      : `for a file in DER: openssl x509 -inform der -in "${file}" -out NAME.pem`;
  reportOnce("unusable-pem", at, { file, problem: found.problem, hint }, context.diagnostics);
  return [];
}

function readKey(file: string, at: Place, context: FileLookup): KeyObject | undefined {
  const text = readWhatIsHere(file, at, context);
  if (text === undefined) return undefined;
  try {
    if (!ENCRYPTED.test(text)) return createPrivateKey(text);
  } catch {
    // What is wrong is said below, in plainer words than OpenSSL's.
  }
  const { diagnostics } = context;
  reportOnce("unusable-pem", at, { file, ...keyProblem(file, text) }, diagnostics);
  return undefined;
}

/** Why a text is no private key that can be used. */
function keyProblem(file: string, text: string): { problem: string; hint: string } {
  if (ENCRYPTED.test(text)) {
    return {
      problem: "is encrypted, and nobody is there to type its passphrase",
      hint: `decrypt it: openssl pkey -in "${file}" -out NAME.key`,
    };
  }
  if (PRIVATE_KEY.test(text)) {
    return {
      problem: "holds a private key that can't be read",
      hint: "write the file again, whole",
    };
  }
  const hint = text.includes(BEGIN)
    ? "this is something else; name the file of the private key"
    : `for a file in DER: openssl pkey -inform der -in "${file}" -out NAME.key`;
  return { problem: "holds no private key", hint };
}

const BEGIN = "-----BEGIN ";
const CERTIFICATE = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
/** PKCS #8, and the older form of OpenSSL (RFC 1421 4.6.1.1). */
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** How long before its end a certificate is told of, in milliseconds. */
const NOTICE = 14 * 24 * 60 * 60 * 1000;

function checkDates(
  certificate: X509Certificate,
  file: string,
  at: Place,
  { host, diagnostics }: FileLookup,
): void {
  const now = Date.parse(host.now());
  const [start, end] = [Date.parse(certificate.validFrom), endOf(certificate)];
  if (end < now) {
    const what = `expired on ${day(end)}`;
    reportOnce("certificate-out-of-date", at, { file, what }, diagnostics);
  } else if (start > now) {
    const what = `is not valid before ${day(start)}`;
    reportOnce("certificate-out-of-date", at, { file, what }, diagnostics);
  } else if (end - now < NOTICE) {
    reportOnce("certificate-expires", at, { file, time: day(end) }, diagnostics);
  }
}

/** Milliseconds since 1970. */
function endOf({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}

/** RFC 3339, a full date. */
function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Many listeners and backends may name one file: what is wrong with it is told at the first of them. */
function reportOnce<Code extends MessageCode>(
  code: Code,
  at: Place,
  params: MessageParams<Code>,
  diagnostics: Diagnostics,
): void {
  const said = JSON.stringify(params);
  const isKnown = diagnostics.list.some(
    (each) => each.code === code && JSON.stringify(each.params) === said,
  );
  if (!isKnown) diagnostics.report(code, at, params);
}

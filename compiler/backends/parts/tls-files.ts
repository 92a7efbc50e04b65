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

/** Services needed to find and read files that a configuration names. */
export interface FileLookup {
  readonly host: Host;
  readonly diagnostics: Diagnostics;
  readonly resolvePath: (name: string, at: Place) => string;
}

/**
 * Configured paths of a certificate chain, its private key, and CA certificates; `undefined` for those not on
 * disk.
 */
interface TlsFiles {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly root?: string | undefined;
}

/**
 * Reads the TLS files that exist on this machine and reports those that no handshake could use; `origin` has a
 * child for each.
 */
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
  // During a rotation, old CA certificates are listed with new ones, so only the one that expires last is checked.
  const newest = authorities.toSorted((a, b) => endOf(b) - endOf(a))[0];
  if (newest !== undefined && root !== undefined) checkDates(newest, root, rootAt, context);
}

/**
 * Reads a file that the gateway reads at start; returns `undefined`, with a warning, if it does not exist on this
 * machine.
 */
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
    ? "write the complete file again"
    : text.includes(BEGIN)
      ? "not a certificate; give the certificate file"
      : `convert a DER file: openssl x509 -inform der -in "${file}" -out NAME.pem`;
  reportOnce("unusable-pem", at, { file, problem: found.problem, hint }, context.diagnostics);
  return [];
}

function readKey(file: string, at: Place, context: FileLookup): KeyObject | undefined {
  const text = readWhatIsHere(file, at, context);
  if (text === undefined) return undefined;
  try {
    if (!ENCRYPTED.test(text)) return createPrivateKey(text);
  } catch {
    // Reported below, in clearer words than OpenSSL's.
  }
  const { diagnostics } = context;
  reportOnce("unusable-pem", at, { file, ...keyProblem(file, text) }, diagnostics);
  return undefined;
}

/** Returns why a string is not a usable private key. */
function keyProblem(file: string, text: string): { problem: string; hint: string } {
  if (ENCRYPTED.test(text)) {
    return {
      problem: "is encrypted, and the gateway cannot ask for its passphrase",
      hint: `decrypt it: openssl pkey -in "${file}" -out NAME.key`,
    };
  }
  if (PRIVATE_KEY.test(text)) {
    return {
      problem: "contains a private key that cannot be read",
      hint: "write the complete file again",
    };
  }
  const hint = text.includes(BEGIN)
    ? "not a private key; give the private key file"
    : `convert a DER file: openssl pkey -inform der -in "${file}" -out NAME.key`;
  return { problem: "contains no private key", hint };
}

const BEGIN = "-----BEGIN ";
const CERTIFICATE = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
/** Matches PKCS #8, and OpenSSL's older format (RFC 1421 4.6.1.1). */
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Time before its expiry at which a certificate is reported, in milliseconds. */
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

/** Returns the expiry in milliseconds since 1970. */
function endOf({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}

/** Formats a date (RFC 3339, full-date). */
function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Reports a problem of a file once, at the first listener or backend that names it. */
function reportOnce<Code extends MessageCode>(
  code: Code,
  at: Place,
  params: MessageParams<Code>,
  diagnostics: Diagnostics,
): void {
  const text = JSON.stringify(params);
  const isKnown = diagnostics.list.some(
    (each) => each.code === code && JSON.stringify(each.params) === text,
  );
  if (!isKnown) diagnostics.report(code, at, params);
}

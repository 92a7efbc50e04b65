import type { X509Certificate } from "node:crypto";
import { pemCertificates } from "../../../runtime/tls/ca-certificates.ts";
import type { Program } from "../../ir/program.ts";
import type { CertificateFiles } from "../../ir/tls.ts";
import type { CheckedItem } from "./checked-item.ts";
import { type DoctorContext, startupPath } from "./environment-checks.ts";

/** Days before its expiry at which a certificate needs attention: renewals are usually earlier. */
const NOTICE_DAYS = 14;
const DAY = 24 * 60 * 60 * 1000;

/** Checks the certificates of listeners: their dates and the names that they are served for. */
export function checkCertificates(
  { binds, tcp }: Program,
  context: DoctorContext,
): readonly CheckedItem[] {
  const listeners = [
    ...binds.flatMap((bind) => bind.listeners),
    ...tcp.flatMap((bind) => bind.listeners),
  ];
  return listeners.flatMap(({ tls, hostname, origin }) => {
    // An agent issues the identity of the gateway, and the gateway orders the others. Both are renewed.
    if (tls === undefined || "kind" in tls) return [];
    const found = startupPath(mounted(tls), origin, context.host);
    const read = found === undefined ? undefined : context.host.readText(found);
    // A file that is missing or not mounted is reported with the environment.
    if (read?.kind !== "text") return [];
    const item = { group: "certificates", name: tls.cert, place: context.placeOf(origin) } as const;
    const pem = pemCertificates(read.text);
    if (pem.kind === "problem")
      return { ...item, status: "failed", detail: pem.problem, hint: "give a PEM certificate" };
    const [own] = pem.certificates;
    return own === undefined ? [] : { ...item, ...verdict(own, hostname, context.host.now()) };
  });
}

function mounted({ cert, isSecret }: CertificateFiles) {
  return { kind: isSecret === true ? "secret" : "path", file: cert } as const;
}

function verdict(
  certificate: X509Certificate,
  hostname: string,
  now: string,
): Pick<CheckedItem, "status" | "detail" | "hint"> {
  const time = Date.parse(now);
  const [start, end] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const until = new Date(end).toISOString().slice(0, 10);
  const renew = "replace the file; the gateway reads it again without a restart";
  if (time > end) return { status: "failed", detail: `expired on ${until}`, hint: renew };
  if (time < start) {
    const from = new Date(start).toISOString().slice(0, 10);
    return { status: "failed", detail: `not valid before ${from}`, hint: "check the clock" };
  }
  if (!isNamed(certificate, hostname)) {
    const detail = `does not name ${hostname}, which its listener serves`;
    return { status: "failed", detail, hint: `get a certificate for ${hostname}` };
  }
  const days = Math.floor((end - time) / DAY);
  const detail = `valid until ${until} (${days} days)`;
  return days < NOTICE_DAYS ? { status: "warning", detail, hint: renew } : { status: "ok", detail };
}

/** Whether clients accept the certificate for a host; a wildcard needs its own entry. */
function isNamed(certificate: X509Certificate, hostname: string): boolean {
  if (hostname === "*") return true;
  if (!hostname.startsWith("*.")) return certificate.checkHost(hostname) !== undefined;
  const names = certificate.subjectAltName?.toLowerCase().split(", ") ?? [];
  return names.includes(`dns:${hostname.toLowerCase()}`);
}

import { X509Certificate } from "node:crypto";
import { HOUR } from "../process/units.ts";
import type { AcmeConnection } from "./acme-connection.ts";
import { retryAfterOf } from "./acme-problem.ts";

/** When a certificate is renewed, and when the server is next asked for that; milliseconds since 1970. */
export interface RenewalTime {
  readonly renewal: number;
  readonly inquiry: number;
}

/** Time between two questions to the server, unless it says another one within these bounds; milliseconds. */
const INQUIRY = 6 * HOUR;
const MIN_INQUIRY = HOUR / 60;
const MAX_INQUIRY = 24 * HOUR;
/** Lifetime below which half of it must be left (Let's Encrypt's advice for certificates of days); milliseconds. */
const SHORT = 10 * 24 * HOUR;

/** Returns when to renew without a word of the server: when a third of the lifetime is left, or half of a short one. */
export function defaultRenewal(cert: string, now: number): RenewalTime {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const start = validFromDate.getTime();
  const lifetime = validToDate.getTime() - start;
  const renewal = start + lifetime * (lifetime < SHORT ? 1 / 2 : 2 / 3);
  return { renewal, inquiry: now + INQUIRY };
}

/**
 * Asks the server when a certificate is to be renewed (ARI, RFC 9773), which is at once if it was revoked. Returns `undefined`
 * if the server does not say.
 */
export async function suggestedRenewal(
  cert: string,
  connection: AcmeConnection,
  now: number,
): Promise<RenewalTime | undefined> {
  const id = renewalId(cert);
  const base = id && (await connection.directoryUrl("renewalInfo"));
  if (base === undefined) return undefined;
  const { data, headers } = await connection.acme.axios.get<unknown>(`${base}/${id}`);
  const window: unknown =
    typeof data === "object" && data !== null ? Reflect.get(data, "suggestedWindow") : undefined;
  if (typeof window !== "object" || window === null) return undefined;
  const start = Date.parse(String(Reflect.get(window, "start")));
  const end = Date.parse(String(Reflect.get(window, "end")));
  if (Number.isNaN(start) || Number.isNaN(end) || end < start) return undefined;
  const asked = retryAfterOf(headers["retry-after"]) ?? INQUIRY;
  return {
    renewal: start + Math.random() * (end - start),
    inquiry: now + Math.min(MAX_INQUIRY, Math.max(MIN_INQUIRY, asked)),
  };
}

/** Returns the identifier of a certificate (RFC 9773 4.1); `undefined` if it does not name the key of its authority. */
export function renewalId(cert: string): string | undefined {
  const { raw, serialNumber } = new X509Certificate(cert);
  const at = raw.indexOf(AUTHORITY_KEY);
  if (at === -1) return undefined;
  // The extension is OCTET STRING { SEQUENCE { [0] KEY ... } }; each length is below 128 (RFC 5280 4.2.1.1).
  const sequence = at + AUTHORITY_KEY.length + 2;
  if (raw[sequence] !== 0x30 || raw[sequence + 2] !== 0x80) return undefined;
  const start = sequence + 4;
  const key = raw.subarray(start, start + (raw[sequence + 3] ?? 0));
  // DER has a zero in front of a number whose first bit is set.
  const serial = /^[89a-f]/i.test(serialNumber) ? `00${serialNumber}` : serialNumber;
  return `${key.toString("base64url")}.${Buffer.from(serial, "hex").toString("base64url")}`;
}

/** Object identifier of the extension that names the key of the authority: 2.5.29.35. */
const AUTHORITY_KEY = Buffer.from("0603551d23", "hex");

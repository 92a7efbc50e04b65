import { isIP } from "node:net";
import { parseDuration } from "./duration.ts";
import type { FormatName, Schema } from "./schema.ts";

/**
 * Tests whether a string has a format. Strings that are resolved at startup (`${NAME}`) pass where they are allowed.
 */
export const formats: Readonly<Record<FormatName, (text: string) => boolean>> = {
  duration: (text) => parseDuration(text) !== undefined,
  gatewayDuration: (text) => /^([0-9]{1,5}(h|m|s|ms)){1,4}$/.test(text),
  url: isHttpUrl,
  hostname: isHostname,
  cidr: isAddressRange,
  ip: (text) => isIP(text) !== 0,
  address: isAddress,
  "address-or-off": (text) => text === "off" || isAddress(text),
};

/** Whether a schema restricts a string by more than its length, and the string matches. */
export function fitsForm({ format, pattern }: Schema, text: string): boolean {
  if (format === undefined && pattern === undefined) return false;
  return (
    (format === undefined || formats[format](text)) &&
    (pattern === undefined || new RegExp(pattern, "u").test(text))
  );
}

function hasVariable(text: string): boolean {
  return text.includes("${");
}

function isAddress(text: string): boolean {
  return hasVariable(text) || /^(\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]]*):[0-9]{1,5}$/.test(text);
}

function isHttpUrl(text: string): boolean {
  if (hasVariable(text)) return true;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    (url?.protocol === "http:" || url?.protocol === "https:") &&
    url.username === "" &&
    url.password === ""
  );
}

/** Whether a string is an IP address or an address range (RFC 4632, RFC 4291 2.3). */
function isAddressRange(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  if (bits < 0 || address.includes("%") || rest.length > 0) return false;
  return prefix === undefined || (/^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

/** Whether a string is a DNS name, exact or with `*` as its first label (Gateway API `Hostname`). */
function isHostname(text: string): boolean {
  return (
    text === "*" ||
    /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
  );
}

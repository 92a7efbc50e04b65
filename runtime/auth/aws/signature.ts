import { createHash, createHmac } from "node:crypto";
import { headerValue } from "../../http/headers/header-list.ts";
import type { UpstreamCall } from "../../http/upstream/upstream.ts";
import type { AwsKeys } from "./aws-keys.ts";

/** Region and service of a signature. */
export interface SigningScope {
  readonly region: string;
  readonly service: string;
}

/**
 * Signs a request whose body is a string or bytes. Replaces headers of the client that belong to signatures (AWS Signature
 * Version 4, as every service except S3 uses it).
 */
export function signRequest(
  call: UpstreamCall,
  { accessKeyId, secretAccessKey, sessionToken }: AwsKeys,
  { region, service }: SigningScope,
  now: Date,
): void {
  const { method, path, headers, body } = call;
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  removeHeaders(headers, OWN_HEADERS);
  headers.push("x-amz-date", time);
  if (sessionToken !== undefined) headers.push("x-amz-security-token", sessionToken);
  const signed = SIGNED_HEADERS.map((name) => [name, headerValue(headers, name)] as const).filter(
    ([, value]) => value !== undefined,
  );
  const names = signed.map(([name]) => name).join(";");
  const lines = signed.map(([name, value = ""]) => `${name}:${value.trim().replace(/ +/g, " ")}\n`);
  const [pathname = "", query = ""] = split(path);
  const request = [method, canonicalPath(pathname), canonicalQuery(query), lines.join(""), names];
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = [
    "AWS4-HMAC-SHA256",
    time,
    scope,
    sha256([...request, sha256(bytesOf(body))].join("\n")),
  ];
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    (each, part) => hmac(each, part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const signature = hmac(key, text.join("\n")).digest("hex");
  headers.push(
    "authorization",
    `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  );
}

/** In order of their names. Other headers are not signed, because proxies may change them. */
const SIGNED_HEADERS = ["content-type", "host", "x-amz-date", "x-amz-security-token"];

const OWN_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "x-amz-date",
  "x-amz-security-token",
  "x-amz-content-sha256",
]);

function removeHeaders(list: string[], names: ReadonlySet<string>): void {
  for (let i = list.length - 2; i >= 0; i -= 2) {
    if (names.has((list[i] ?? "").toLowerCase())) list.splice(i, 2);
  }
}

function split(target: string): readonly string[] {
  const at = target.indexOf("?");
  return at === -1 ? [target] : [target.slice(0, at), target.slice(at + 1)];
}

/** Encodes the sent path once more: `%3A` on the wire is signed as `%253A`. */
function canonicalPath(path: string): string {
  return path.split("/").map(encoded).join("/");
}

/** Sorts by name, then by value. */
function canonicalQuery(query: string): string {
  if (query === "") return "";
  return query
    .split("&")
    .map((part) => {
      const [name = "", ...value] = part.split("=");
      return [encodedOnce(name), encodedOnce(value.join("="))] as const;
    })
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map((pair) => pair.join("="))
    .join("&");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Normalizes a string that may be encoded already. */
function encodedOnce(text: string): string {
  try {
    return encoded(decodeURIComponent(text));
  } catch {
    return encoded(text);
  }
}

/** Encodes everything except unreserved characters (RFC 3986). */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Signed requests have their bodies buffered before. */
function bytesOf(body: UpstreamCall["body"]): string | Uint8Array {
  if (body === null) return "";
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  throw new Error("a streamed body cannot be signed");
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, text: string) {
  return createHmac("sha256", key).update(text);
}

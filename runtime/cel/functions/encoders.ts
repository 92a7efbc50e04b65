import { createHash } from "node:crypto";
import { withinLimit } from "../values/values.ts";

/** `base64.encode(bytes)`; strings are encoded as UTF-8. */
export function base64Encode(value: unknown): string | undefined {
  return withinLimit(bytesOf(value)?.toString("base64"));
}

/** `base64.decode(text)`: padding is optional; characters outside of the alphabet are an error. */
export function base64Decode(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string") return undefined;
  const body = text.replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(body) || body.length % 4 === 1) return undefined;
  if (body.length !== text.length && text.length % 4 !== 0) return undefined;
  return new Uint8Array(Buffer.from(body, "base64"));
}

/** `sha256.encode(value)`: the digest in hexadecimal; strings are encoded as UTF-8. */
export function sha256Encode(value: unknown): string | undefined {
  return digest("sha256", value);
}

/** `sha1.encode(value)`: the digest in hexadecimal. Not for security. */
export function sha1Encode(value: unknown): string | undefined {
  return digest("sha1", value);
}

/** `md5.encode(value)`: the digest in hexadecimal. Not for security. */
export function md5Encode(value: unknown): string | undefined {
  return digest("md5", value);
}

function digest(algorithm: "sha256" | "sha1" | "md5", value: unknown): string | undefined {
  const bytes = bytesOf(value);
  return bytes === undefined ? undefined : createHash(algorithm).update(bytes).digest("hex");
}

/** Returns bytes, or a string in UTF-8; `undefined` for other values. */
export function bytesOf(value: unknown): Buffer | undefined {
  if (typeof value === "string") return Buffer.from(value, "utf8");
  if (!(value instanceof Uint8Array)) return undefined;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

import { entriesOf } from "../collections/entries.ts";
import { toText } from "../values/convert.ts";
import { withinLimit } from "../values/values.ts";
import { bytesOf } from "./encoders.ts";
import { json } from "./json.ts";

/** `url.encode(value)`: percent-encodes all but unreserved characters (RFC 3986 2.3). */
export function urlEncode(value: unknown): string | undefined {
  const bytes = bytesOf(value);
  if (bytes === undefined) return undefined;
  const text = bytes.toString("latin1");
  return withinLimit(
    text.replace(/[^A-Za-z0-9\-._~]/g, (byte) => {
      return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
    }),
  );
}

/** `url.decode(text)`: an incomplete escape, or bytes that are not UTF-8, are an error. `+` stays. */
export function urlDecode(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** `form.decode(body)`: fields of a form (URL Standard, application/x-www-form-urlencoded); repeated ones as a list. */
export function formDecode(body: unknown): ReadonlyMap<string, unknown> | undefined {
  const bytes = bytesOf(body);
  if (bytes === undefined) return undefined;
  const params = new URLSearchParams(bytes.toString());
  return new Map(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

/** `form.encode(map)`: fields sorted by name; lists become repeated fields, and null values are left out. */
export function formEncode(map: unknown): string | undefined {
  const entries = entriesOf(map);
  if (entries === undefined) return undefined;
  const params = new URLSearchParams();
  for (const [name, value] of [...entries].toSorted(([a], [b]) =>
    String(a) < String(b) ? -1 : 1,
  )) {
    for (const each of Array.isArray(value) ? value : [value]) {
      const text = each === null ? undefined : toText(each);
      if (text !== undefined) params.append(String(name), text);
      else if (each !== null) return undefined;
    }
  }
  return withinLimit(params.toString());
}

/** `unvalidatedJwtPayload(token)`: the claims of a JWT (RFC 7519) whose signature is not checked. */
export function unvalidatedJwtPayload(token: unknown): unknown {
  if (typeof token !== "string") return undefined;
  const [, payload = "", ...rest] = token.split(".");
  if (rest.length !== 1 || !/^[A-Za-z0-9_-]+$/.test(payload)) return undefined;
  return json(new Uint8Array(Buffer.from(payload, "base64url")));
}

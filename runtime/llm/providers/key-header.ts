import type { UpstreamCall, UpstreamCredential } from "../../http/upstream/upstream.ts";
import { startupError } from "../../process/startup-error.ts";
import { WatchedFile } from "../../process/watched-file.ts";
import type { KeyHeader } from "./provider.ts";
import { keyHeaderName } from "./provider.ts";

/** Sends a key in a header of the provider: `x-api-key`. Throws StartupError if it is not a valid header value. */
export function keyHeader(header: KeyHeader, key: string): UpstreamCredential {
  const value = keyOf(key);
  if (value === undefined) throw startupError("the key for a provider is not a valid header value");
  return (call) => showKey(call, header, value);
}

/** Sends a key from a file that is read at startup and when it changes. Throws StartupError. */
export function keyHeaderFile(header: KeyHeader, path: string): UpstreamCredential {
  const followed = new WatchedFile(path, (text) => {
    const value = keyOf(text);
    if (value === undefined) throw new Error("is not a key");
    return value;
  });
  return (call) => showKey(call, header, followed.current());
}

function showKey({ path, headers }: UpstreamCall, header: KeyHeader, key: string): void {
  const name = keyHeaderName(header, path);
  headers.push(name, name === "authorization" ? `Bearer ${key}` : key);
}

/** Parses a key, which is stored as it is, or as a value of Authorization. */
function keyOf(text: string): string | undefined {
  const key = text.trim().replace(/^Bearer +/i, "");
  return /^[\x21-\x7e]+$/.test(key) ? key : undefined;
}

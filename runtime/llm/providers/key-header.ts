import type { UpstreamCall, UpstreamCredential } from "../../http/upstream/upstream.ts";
import { startupError } from "../../process/startup-error.ts";
import { WatchedFile } from "../../process/watched-file.ts";
import { keyHeaderName } from "./key-header-name.ts";
import type { KeyHeader } from "./provider.ts";

/** A key in a header of the provider's own: `x-api-key`. Throws StartupError when it can't be a header. */
export function keyHeader(header: KeyHeader, key: string): UpstreamCredential {
  const value = keyOf(key);
  if (value === undefined) throw startupError("the key for a provider is no value of a header");
  return (call) => showKey(call, header, value);
}

/** The same, of a file that is read when the gateway starts and when it changes. Throws StartupError. */
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

/** Keys are stored as they are, or as a value of Authorization. */
function keyOf(text: string): string | undefined {
  const key = text.trim().replace(/^Bearer +/i, "");
  return /^[\x21-\x7e]+$/.test(key) ? key : undefined;
}

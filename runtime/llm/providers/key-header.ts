import type { UpstreamCredential } from "../../http/upstream/upstream.ts";
import { startupError } from "../../process/startup-error.ts";
import { WatchedFile } from "../../process/watched-file.ts";

/** A key in a header of the provider's own: `x-api-key`. Throws StartupError when it can't be a header. */
export function keyHeader(header: string, key: string): UpstreamCredential {
  const value = keyOf(key);
  if (value === undefined) throw startupError(`the key for ${header} is no value of a header`);
  return ({ headers }) => {
    headers.push(header, value);
  };
}

/** The same, of a file that is read when the gateway starts and when it changes. Throws StartupError. */
export function keyHeaderFile(header: string, path: string): UpstreamCredential {
  const followed = new WatchedFile(path, (text) => {
    const value = keyOf(text);
    if (value === undefined) throw new Error("it holds no key");
    return value;
  });
  return ({ headers }) => {
    headers.push(header, followed.current());
  };
}

/** Keys are stored as they are, or as a value of Authorization. */
function keyOf(text: string): string | undefined {
  const key = text.trim().replace(/^Bearer +/i, "");
  return /^[\x21-\x7e]+$/.test(key) ? key : undefined;
}

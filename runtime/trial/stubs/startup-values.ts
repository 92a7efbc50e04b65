import { env as read } from "../../process/startup-values.ts";

export {
  apiUrl,
  baseUrl,
  configMapFile,
  file,
  httpsUrl,
  httpUrl,
  mountFolderOf,
  secretFile,
} from "../../process/startup-values.ts";

/**
 * Replaces process/startup-values.ts: a variable that is not set has a unique value, which is also a valid host name, or a
 * port if its name ends with PORT.
 */
export function env(name: string, fallback?: string): string {
  const word = `unset-${name.toLowerCase().replaceAll("_", "-")}`;
  return read(name, fallback ?? (/PORT$/i.test(name) ? "80" : word));
}

/** The same value as a part of a URL, in its host or after it. */
export { env as authorityAndPath, env as hostPart, env as pathPart };

import { env as read } from "../../process/startup-values.ts";

export {
  baseUrl,
  configMapFile,
  file,
  httpsUrl,
  httpUrl,
  mountFolderOf,
  secretFile,
} from "../../process/startup-values.ts";

/**
 * In the place of process/startup-values.ts: a variable that is not set is a word of its own, which is a host's name too;
 * one that is called a port is a port.
 */
export function env(name: string, fallback?: string): string {
  const word = `unset-${name.toLowerCase().replaceAll("_", "-")}`;
  return read(name, fallback ?? (/PORT$/i.test(name) ? "80" : word));
}

/** The same as a part of a URL, in its host and behind it. */
export { env as authorityAndPath, env as hostPart, env as pathPart };

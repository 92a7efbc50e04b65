import { env as read } from "../../process/startup-values.ts";

export {
  baseUrl,
  configMapFile,
  file,
  httpsUrl,
  httpUrl,
  secretFile,
} from "../../process/startup-values.ts";

/** In the place of process/startup-values.ts: a variable that is not set is a word of its own, which is a host's name too. */
export function env(name: string, fallback?: string): string {
  return read(name, fallback ?? `unset-${name.toLowerCase().replaceAll("_", "-")}`);
}

import path from "node:path";
import type { Host } from "../../host.ts";

/**
 * Returns the folder for files that may be deleted at any time, by the system's convention (XDG on Linux);
 * `undefined` if the environment names none.
 */
export function cacheFolder(
  host: Pick<Host, "variable">,
  platform: NodeJS.Platform,
): string | undefined {
  const base = baseFolder(platform, (name) => host.variable(name) ?? "");
  return path.isAbsolute(base) ? path.join(base, "gwc") : undefined;
}

function baseFolder(platform: NodeJS.Platform, variable: (name: string) => string): string {
  if (platform === "win32") return variable("LOCALAPPDATA");
  if (platform === "darwin") return path.join(variable("HOME"), "Library", "Caches");
  const chosen = variable("XDG_CACHE_HOME");
  return path.isAbsolute(chosen) ? chosen : path.join(variable("HOME"), ".cache");
}

import { createHash } from "node:crypto";
import type { BuildInfo } from "../../runtime/gateway/build-info.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import { version } from "../installation.ts";

/**
 * Returns the build information of a gateway: its version and the digest of its generated code, shortened to 48 bits.
 */
export function buildInfoOf(modules: readonly PrintedModule[]): BuildInfo {
  const hash = createHash("sha256");
  for (const { path, text } of modules) hash.update(`${path}\0${text}\0`);
  return { version: version(), configDigest: hash.digest("hex").slice(0, 12) };
}

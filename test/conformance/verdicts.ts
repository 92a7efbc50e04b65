import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** Versions of the protocol that the suite knows. */
export type Revision = "2025-11-25" | "2026-07-28";

const suite = fileURLToPath(new URL("../../node_modules/.bin/conformance", import.meta.url));

/** It is run many times, and half of what it takes to begin is compiling it. */
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: path.join(root, "node_modules", ".cache", "node-compile-cache"),
};

/** Runs the conformance suite's server scenarios of a revision: "passed, failed" of each. */
export async function verdicts(
  url: string,
  revision: Revision,
): Promise<ReadonlyMap<string, string>> {
  const folder = temporaryFolder();
  const args = [suite, "server", "--url", url, "--requirements", revision, "-o", folder];
  const output = await new Promise<string>((resolve) => {
    // Its status counts scenarios that are not scored too.
    execFile(process.execPath, args, { maxBuffer: 1 << 24, env }, (_error, stdout) =>
      resolve(stdout),
    );
  });
  const found = new Map<string, string>();
  for (const [, name = "", counts = ""] of output.matchAll(
    /^[✓✗] (\S+): (\d+ passed, \d+ failed)/gm,
  )) {
    found.set(name, counts);
  }
  return found;
}

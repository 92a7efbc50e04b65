import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const suite = fileURLToPath(new URL("../../node_modules/.bin/conformance", import.meta.url));

/** Runs the conformance suite's server scenarios of a revision: "passed, failed" of each. */
export async function verdicts(
  url: string,
  revision: "2025-11-25" | "2026-07-28",
): Promise<ReadonlyMap<string, string>> {
  const folder = temporaryFolder();
  const args = [suite, "server", "--url", url, "--requirements", revision, "-o", folder];
  const output = await new Promise<string>((resolve) => {
    // Its status counts scenarios that are not scored too.
    execFile(process.execPath, args, { maxBuffer: 1 << 24 }, (_error, stdout) => resolve(stdout));
  });
  const found = new Map<string, string>();
  for (const [, name = "", counts = ""] of output.matchAll(
    /^[✓✗] (\S+): (\d+ passed, \d+ failed)/gm,
  )) {
    found.set(name, counts);
  }
  return found;
}

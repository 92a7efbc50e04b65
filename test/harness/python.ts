import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * A Python with these packages (`name==version`): an environment that is made once and kept for later runs. Tests that
 * make the same one at the same time each make it, and the first one is kept.
 */
export async function pythonWith(...packages: readonly string[]): Promise<string> {
  const key = createHash("sha256").update(packages.join(" ")).digest("hex").slice(0, 16);
  const folder = path.join(tmpdir(), "gwc-python", key);
  const python = path.join(folder, "bin", "python3");
  if (existsSync(python)) return python;
  mkdirSync(path.dirname(folder), { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  await run("python3", ["-m", "venv", own]);
  // A script of an environment knows its first path: packages are started by `python3` alone, which may move.
  await run(path.join(own, "bin", "python3"), ["-m", "pip", "install", "--quiet", ...packages]);
  try {
    renameSync(own, folder);
  } catch {
    rmSync(own, { recursive: true });
  }
  return python;
}

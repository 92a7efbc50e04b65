import { spawnSync } from "node:child_process";

/** Whether a process runs. One that has ended, and that its parent has not waited for yet (Z), does not. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return /^[^Z]/.test(stdout.trim());
}

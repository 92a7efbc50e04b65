import { existsSync, readFileSync } from "node:fs";

/** Checks that a process runs. Returns `false` for a zombie, where /proc tells (Linux). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (!existsSync("/proc/self/stat")) return true;
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before the state is in parentheses and may hold some itself (proc(5)).
    return !/^\) Z/.test(stat.slice(stat.lastIndexOf(")")));
  } catch {
    return false;
  }
}

import { join } from "node:path";

/** The file of a state directory that says what was used of a gateway's limits. */
export function limitsFile(stateDir: string, gateway: string): string {
  return join(stateDir, `${encodeURIComponent(gateway)}.limits.json`);
}

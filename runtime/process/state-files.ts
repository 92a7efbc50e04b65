import { join } from "node:path";

/** Returns the file of a state directory that persists how much of a gateway's limits was used. */
export function limitsFile(stateDir: string, gateway: string): string {
  return join(stateDir, `${encodeURIComponent(gateway)}.limits.json`);
}

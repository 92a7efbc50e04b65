import { Remembered } from "../../process/remembered.ts";
import { AuditLog, type AuditStream, LOGIN_TIME, MAX_LOGINS } from "./audit-log.ts";

/**
 * Returns the audit stream of one of several threads: the main thread writes the lines, and a login on one thread counts
 * for all.
 */
export function threadAudit(write: (line: string) => void): AuditStream {
  const seen = new Remembered("audit/logins", MAX_LOGINS);
  const log = new ThreadAuditLog(
    { add: write, close: () => Promise.resolve() },
    { isNew: (login, gateway) => !seen.renew(login, Date.now() + LOGIN_TIME, gateway) },
  );
  return { open: () => log };
}

class ThreadAuditLog extends AuditLog {
  /** Does nothing: the main thread logs the actions of the process. */
  override action(): void {}
}

import { Remembered } from "../../process/remembered.ts";
import { AuditLog, type AuditStream, LOGIN_TIME, MAX_LOGINS } from "./audit-log.ts";

/** Where the audit lines of one of several threads go: the main thread writes them, and a login is one in all threads. */
export function threadAudit(write: (line: string) => void): AuditStream {
  const seen = new Remembered("audit/logins", MAX_LOGINS);
  const log = new ThreadAuditLog(
    { add: write, close: () => Promise.resolve() },
    { isNew: (login, gateway) => !seen.renew(login, Date.now() + LOGIN_TIME, gateway) },
  );
  return { open: () => log };
}

class ThreadAuditLog extends AuditLog {
  /** What the process does the main thread says. */
  override action(): void {}
}

import { Remembered } from "../../process/remembered.ts";
import { AuditLog, loginTime, maxLogins } from "./audit-log.ts";

/** The audit log as one of several threads has it: the main thread writes the lines, and a login is one in all of them. */
export function threadAudit(write: (line: string) => void): AuditLog {
  const logins = new Remembered("audit/logins", maxLogins);
  return new AuditLog(
    { add: write, close: () => Promise.resolve() },
    { isNew: (login, gateway) => !logins.renew(login, Date.now() + loginTime, gateway) },
  );
}

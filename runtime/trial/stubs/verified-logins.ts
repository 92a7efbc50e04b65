import type { Login } from "../../auth/password/verified-logins.ts";
import type { PasswordFile } from "../../contents/password-file.ts";
import { TRIAL_PASSWORD } from "../trial-credential.ts";

export type { Login };

/** Replaces auth/password/verified-logins.ts: every user of a trial has the same password. */
export class VerifiedLogins {
  check(_passwords: PasswordFile, { password }: Login): boolean {
    return password === TRIAL_PASSWORD;
  }
}

import { hash } from "node:crypto";
import type { PasswordFile } from "../../contents/password-file.ts";
import { htpasswd as parse } from "../../policies/basic-auth.ts";
import { TRIAL_PASSWORD } from "../trial-credential.ts";

export {
  acceptBasicAuth,
  observeBasicAuth,
  openBasicAuth,
  requireBasicAuth,
} from "../../policies/basic-auth.ts";

/** Replaces policies/basic-auth.ts: the variable may be unset. Every user of a trial has the same password. */
export function htpasswd(): PasswordFile {
  return parse(`trial:{SHA}${hash("sha1", TRIAL_PASSWORD, "base64")}`);
}

/** The same for a file, which may be absent. */
export { htpasswd as htpasswdFile };

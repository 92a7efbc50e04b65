import { hash } from "node:crypto";
import type { PasswordFile } from "../../contents/password-file.ts";
import { htpasswd } from "../../policies/basic-auth.ts";
import { TRIAL_PASSWORD } from "../trial-credential.ts";

export {
  acceptBasicAuth,
  htpasswd,
  observeBasicAuth,
  openBasicAuth,
  requireBasicAuth,
} from "../../policies/basic-auth.ts";

/** Replaces policies/basic-auth.ts: the file may be absent. */
export function htpasswdFile(): PasswordFile {
  return htpasswd(`trial:{SHA}${hash("sha1", TRIAL_PASSWORD, "base64")}`);
}

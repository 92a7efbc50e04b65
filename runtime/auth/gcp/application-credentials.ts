import { readFile } from "node:fs/promises";
import { CredentialFields } from "../cloud/credential-fields.ts";

const KINDS = ["service_account", "authorized_user", "external_account"] as const;

/** A credentials file, and its kind. */
export interface ApplicationCredentials {
  readonly kind: (typeof KINDS)[number];
  readonly fields: CredentialFields;
}

/** Reads the file that the environment names, each time because it may be replaced; `undefined` if none is named. */
export async function readApplicationCredentials(
  env: NodeJS.ProcessEnv,
): Promise<ApplicationCredentials | undefined> {
  const file = env.GOOGLE_APPLICATION_CREDENTIALS;
  if (!file) return undefined;
  const fields = CredentialFields.parse(await readFile(file, "utf8"), "the credentials file");
  const type = fields.text("type");
  const kind = KINDS.find((each) => each === type);
  if (kind === undefined) throw new Error(`credentials of type "${type}" are not supported`);
  return { kind, fields };
}

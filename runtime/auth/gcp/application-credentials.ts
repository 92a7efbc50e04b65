import { readFile } from "node:fs/promises";
import { googleCredentialKind } from "../../contents/google-credentials.ts";
import { CredentialFields } from "../cloud/credential-fields.ts";

/** Credentials, and their kind. */
export interface ApplicationCredentials {
  readonly kind: ReturnType<typeof googleCredentialKind>;
  readonly fields: CredentialFields;
}

/** Configured credentials: a file, or JSON text. */
export type CredentialSource = { readonly file: string } | { readonly json: string };

/**
 * Reads the configured credentials, or else the file that the environment names, each time because it may be replaced;
 * `undefined` if there are none.
 */
export async function readApplicationCredentials(
  env: NodeJS.ProcessEnv,
  configured: CredentialSource | undefined,
): Promise<ApplicationCredentials | undefined> {
  if (configured !== undefined && "json" in configured) return credentialsOf(configured.json);
  const file = configured?.file ?? env.GOOGLE_APPLICATION_CREDENTIALS;
  return file ? credentialsOf(await readFile(file, "utf8")) : undefined;
}

function credentialsOf(text: string): ApplicationCredentials {
  const fields = CredentialFields.parse(text, "the credentials file");
  const type = fields.text("type");
  try {
    return { kind: googleCredentialKind(text), fields };
  } catch {
    throw new Error(`credentials of type "${type}" are not supported`);
  }
}

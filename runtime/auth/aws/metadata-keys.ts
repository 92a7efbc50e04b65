import { CredentialFields } from "../cloud/credential-fields.ts";
import type { Expiring } from "../cloud/expiring-value.ts";
import type { AwsKeys } from "./aws-keys.ts";

/** Reads keys in the format of agents of containers and instances. Throws errors that do not quote the input. */
export function readMetadataKeys(body: Buffer): Expiring<AwsKeys> {
  const fields = CredentialFields.parse(body.toString("utf8"), "the credentials document");
  const expires = Date.parse(fields.text("Expiration"));
  if (Number.isNaN(expires)) throw new Error('"Expiration" of the credentials is not a time');
  const value = {
    accessKeyId: fields.text("AccessKeyId"),
    secretAccessKey: fields.text("SecretAccessKey"),
    sessionToken: fields.optionalText("Token"),
  };
  return { value, expires };
}

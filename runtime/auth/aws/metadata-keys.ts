import { CredentialFields } from "../cloud/credential-fields.ts";
import type { Expiring } from "../cloud/expiring-value.ts";
import type { AwsKeys } from "./aws-keys.ts";

/** Keys as the agents of containers and instances write them. Throws, without a word of what they wrote. */
export function readMetadataKeys(body: Buffer): Expiring<AwsKeys> {
  const fields = CredentialFields.parse(body.toString("utf8"), "the document of credentials");
  const expires = Date.parse(fields.text("Expiration"));
  if (Number.isNaN(expires)) throw new Error("the credentials have no end that is a time");
  const value = {
    accessKeyId: fields.text("AccessKeyId"),
    secretAccessKey: fields.text("SecretAccessKey"),
    sessionToken: fields.optionalText("Token"),
  };
  return { value, expires };
}

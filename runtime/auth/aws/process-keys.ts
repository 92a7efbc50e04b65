import { exec } from "node:child_process";
import { promisify } from "node:util";
import { MINUTE } from "../../process/units.ts";
import { CredentialFields } from "../cloud/credential-fields.ts";
import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";

/**
 * The keys that a program of a profile prints, `credential_process`:
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html. It is run as a shell's command line, as
 * AWS's tools do, and again before its keys expire.
 */
export function processKeys(profile: string, command: string): AwsKeySource {
  const keys = new ExpiringValue(`AWS credentials of the profile "${profile}"`, () => run(command));
  return () => keys.current();
}

const execute = promisify(exec);

async function run(command: string): Promise<Expiring<AwsKeys>> {
  let printed: string;
  try {
    printed = (await execute(command, { timeout: MINUTE, maxBuffer: 65_536 })).stdout;
  } catch {
    // Its error has all that it wrote.
    throw new Error("the credential process failed");
  }
  const fields = CredentialFields.parse(printed, "what the credential process prints");
  if (fields.number("Version") !== 1)
    throw new Error("the credential process is of another version");
  const end = fields.optionalText("Expiration");
  const expires = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end);
  if (Number.isNaN(expires)) throw new Error("the credentials have no end that is a time");
  const value = {
    accessKeyId: fields.text("AccessKeyId"),
    secretAccessKey: fields.text("SecretAccessKey"),
    sessionToken: fields.optionalText("SessionToken"),
  };
  return { value, expires };
}

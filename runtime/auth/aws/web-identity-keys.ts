import { readFile } from "node:fs/promises";
import { ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource } from "./aws-keys.ts";
import { assumeRoleWithWebIdentity, type StsRole } from "./sts.ts";

/** Returns the keys of a role for a token of another issuer; `undefined` if the environment names no such token. */
export function webIdentityKeys(env: NodeJS.ProcessEnv, region: string): AwsKeySource | undefined {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: arn } = env;
  if (!file || !arn) return undefined;
  const session = env.AWS_ROLE_SESSION_NAME || "gwc";
  return webIdentityRole(env, region, { arn, session }, file);
}

/** Returns the keys of a role for the token in a file, which is read each time because it changes. */
export function webIdentityRole(
  env: NodeJS.ProcessEnv,
  region: string,
  role: StsRole,
  file: string,
): AwsKeySource {
  const keys = new ExpiringValue("AWS credentials by web identity", async () => {
    const token = (await readFile(file, "utf8")).trim();
    return assumeRoleWithWebIdentity(env, region, role, token);
  });
  return () => keys.current();
}

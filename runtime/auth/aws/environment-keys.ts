import type { AwsKeySource } from "./aws-keys.ts";

/** Returns keys from environment variables; `undefined` if they are not set. */
export function environmentKeys(env: NodeJS.ProcessEnv): AwsKeySource | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) return undefined;
  const keys = { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN || undefined };
  return () => keys;
}

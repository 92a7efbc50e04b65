import type { AwsKeySource } from "./aws-keys.ts";

/** The keys that stand in the environment; undefined: there are none. */
export function environmentKeys(env: NodeJS.ProcessEnv): AwsKeySource | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) return undefined;
  const keys = { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN || undefined };
  return () => keys;
}

import type { AwsKeySource } from "./aws-keys.ts";
import { containerKeys } from "./container-keys.ts";
import { instanceKeys } from "./instance-keys.ts";
import { webIdentityKeys } from "./web-identity-keys.ts";

/**
 * The keys of whatever the gateway runs on, found as AWS's own tools do it: the environment, a web identity (a pod's
 * service account), the container's agent, the instance's metadata. Profiles of `~/.aws` are not looked at.
 */
export function ambientKeys(region: string): AwsKeySource {
  const { env } = process;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId && secretAccessKey) {
    const sessionToken = env.AWS_SESSION_TOKEN || undefined;
    return () => ({ accessKeyId, secretAccessKey, sessionToken });
  }
  return (
    webIdentityKeys(env, region) ??
    containerKeys(env) ??
    instanceKeys(env) ??
    (() => Promise.reject(new Error("the environment names no source of AWS credentials")))
  );
}

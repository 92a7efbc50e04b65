import type { AwsKeySource } from "./aws-keys.ts";
import { containerKeys } from "./container-keys.ts";
import { environmentKeys } from "./environment-keys.ts";
import { instanceKeys } from "./instance-keys.ts";
import { profileKeys } from "./profile-keys.ts";
import { webIdentityKeys } from "./web-identity-keys.ts";

/**
 * Finds keys in the gateway's environment in the order of AWS's own tools: the profile that `AWS_PROFILE` names, environment
 * variables, a web identity (a pod's service account), the default profile, the container's agent, the instance's metadata.
 * Throws StartupError for a profile that cannot be used.
 */
export function ambientKeys(region: string): AwsKeySource {
  const { env } = process;
  if (env.AWS_PROFILE) return profileKeys(env, region) ?? unavailable;
  return (
    environmentKeys(env) ??
    webIdentityKeys(env, region) ??
    profileKeys(env, region) ??
    containerKeys(env) ??
    instanceKeys(env) ??
    unavailable
  );
}

function unavailable(): Promise<never> {
  return Promise.reject(new Error("the environment has no source of AWS credentials"));
}

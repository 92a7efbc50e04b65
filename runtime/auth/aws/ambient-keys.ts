import type { AwsKeySource } from "./aws-keys.ts";
import { containerKeys } from "./container-keys.ts";
import { environmentKeys } from "./environment-keys.ts";
import { instanceKeys } from "./instance-keys.ts";
import { profileKeys } from "./profile-keys.ts";
import { webIdentityKeys } from "./web-identity-keys.ts";

/**
 * The keys of whatever the gateway runs on, found as AWS's own tools do it: the profile that `AWS_PROFILE` names, the
 * environment, a web identity (a pod's service account), the default profile, the container's agent, the instance's
 * metadata. Throws StartupError for a profile that can't be used.
 */
export function ambientKeys(region: string): AwsKeySource {
  const { env } = process;
  if (env.AWS_PROFILE) return profileKeys(env, region) ?? none;
  return (
    environmentKeys(env) ??
    webIdentityKeys(env, region) ??
    profileKeys(env, region) ??
    containerKeys(env) ??
    instanceKeys(env) ??
    none
  );
}

function none(): Promise<never> {
  return Promise.reject(new Error("the environment names no source of AWS credentials"));
}

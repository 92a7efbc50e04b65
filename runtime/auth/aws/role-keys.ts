import { ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource } from "./aws-keys.ts";
import { containerKeys } from "./container-keys.ts";
import { environmentKeys } from "./environment-keys.ts";
import { instanceKeys } from "./instance-keys.ts";
import { profileKeys } from "./profile-keys.ts";
import { assumeRole, type StsRole } from "./sts.ts";
import { webIdentityKeys } from "./web-identity-keys.ts";

/**
 * Returns the temporary keys of a role, which the gateway assumes with the keys of its environment. Throws StartupError for a
 * profile that cannot be used.
 */
export function roleKeys(region: string, role: StsRole): AwsKeySource {
  const source = ambientKeys(region);
  const keys = new ExpiringValue(`AWS credentials of the role ${role.arn}`, () =>
    assumeRole(process.env, region, role, source),
  );
  return () => keys.current();
}

/**
 * Finds keys in the gateway's environment in the order of AWS's own tools: the profile that `AWS_PROFILE` names, environment
 * variables, a web identity (a pod's service account), the default profile, the container's agent, the instance's metadata.
 * Throws StartupError for a profile that cannot be used.
 */
function ambientKeys(region: string): AwsKeySource {
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

import { ExpiringValue } from "../cloud/expiring-value.ts";
import { ambientKeys } from "./ambient-keys.ts";
import type { AwsKeySource } from "./aws-keys.ts";
import { assumeRole, type StsRole } from "./sts.ts";

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

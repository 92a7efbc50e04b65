import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";

/** Keys that the configuration names, which stay the same. */
export function staticKeys(keys: AwsKeys): AwsKeySource {
  return () => keys;
}

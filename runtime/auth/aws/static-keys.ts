import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";

/** Returns configured keys, which never change. */
export function staticKeys(keys: AwsKeys): AwsKeySource {
  return () => keys;
}

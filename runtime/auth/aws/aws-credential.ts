import type { UpstreamCredential } from "../../http/upstream/upstream.ts";
import type { AwsKeySource } from "./aws-keys.ts";
import { signRequest } from "./signature.ts";

/** Settings of signatures for a service of AWS. */
export interface AwsCredentialSettings {
  /** `us-east-1` */
  readonly region: string;
  /** Service name in signatures: `bedrock`, `execute-api`. */
  readonly service: string;
  readonly keys: AwsKeySource;
}

/** Signs every request to a service of AWS (Signature Version 4). */
export function awsCredential({ keys, ...scope }: AwsCredentialSettings): UpstreamCredential {
  return async (call) => signRequest(call, await keys(), scope, new Date());
}

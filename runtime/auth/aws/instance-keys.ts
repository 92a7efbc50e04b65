import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";
import { readMetadataKeys } from "./metadata-keys.ts";

/** Returns keys of the role of an EC2 instance (IMDSv2); `undefined` if the environment disables it. */
export function instanceKeys(env: NodeJS.ProcessEnv): AwsKeySource | undefined {
  if (env.AWS_EC2_METADATA_DISABLED === "true") return undefined;
  const server = env.AWS_EC2_METADATA_SERVICE_ENDPOINT || "http://169.254.169.254";
  const keys = new ExpiringValue("AWS credentials of the instance", () =>
    fetchKeys(server.replace(/\/$/, "")),
  );
  return () => keys.current();
}

async function fetchKeys(server: string): Promise<Expiring<AwsKeys>> {
  const ttl = ["x-aws-ec2-metadata-token-ttl-seconds", "21600"];
  const token = await request("PUT", `${server}/latest/api/token`, ttl);
  const headers = ["x-aws-ec2-metadata-token", token.toString("utf8").trim()];
  const roles = `${server}/latest/meta-data/iam/security-credentials/`;
  const [role = ""] = (await request("GET", roles, headers)).toString("utf8").trim().split("\n");
  return readMetadataKeys(await request("GET", `${roles}${encodeURIComponent(role)}`, headers));
}

async function request(method: "GET" | "PUT", url: string, headers: readonly string[]) {
  const limits = { maxBytes: 65_536, deadline: 2_000, expectedStatus: 200 };
  return (await fetchResponse({ method, url, headers }, limits)).body;
}

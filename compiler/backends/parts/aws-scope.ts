import type { AwsScope } from "../../model/cloud-credentials.ts";
import type { Text } from "../../model/texts.ts";

/**
 * Returns the AWS service and region that a host name contains;
 * https://docs.aws.amazon.com/general/latest/gr/rande.html.
 */
export function awsScopeOf(url: Text | undefined): Partial<AwsScope> {
  if (typeof url !== "string" || !URL.canParse(url)) return {};
  const { hostname } = new URL(url);
  // Stands for a missing server, to which no request is sent: its scope is no mistake of the policy.
  if (hostname.endsWith(".invalid")) return { service: "unresolved", region: "unresolved" };
  const [, lambdaRegion] = /\.lambda-url\.([a-z0-9-]+)\.on\.aws$/.exec(hostname) ?? [];
  if (lambdaRegion !== undefined) return { service: "lambda", region: lambdaRegion };
  const [, service, region] =
    /(?:^|\.)([a-z0-9-]+)\.([a-z]+(?:-[a-z]+)+-[0-9])\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/.exec(
      hostname,
    ) ?? [];
  if (service === undefined || region === undefined) return {};
  // Requests are signed with the name of the API, not of its hosts.
  return { service: service === "bedrock-runtime" ? "bedrock" : service, region };
}

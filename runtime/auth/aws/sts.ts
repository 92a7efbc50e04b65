import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import type { Expiring } from "../cloud/expiring-value.ts";
import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";
import { signRequest } from "./signature.ts";

/** A role to assume with AWS's Security Token Service (STS). */
export interface StsRole {
  readonly arn: string;
  /** Name of the session in AWS's logs. */
  readonly session: string;
  /** External id that the role's owner requires. */
  readonly externalId?: string | undefined;
  /** Lifetime of the keys in seconds; `undefined` for an hour. */
  readonly duration?: number | undefined;
  /** Tags of the session. */
  readonly tags?: readonly (readonly [key: string, value: string])[] | undefined;
}

/**
 * Gets the keys of a role with a token of another issuer; the request is not signed. Rejects with errors without secrets.
 */
export function assumeRoleWithWebIdentity(
  env: NodeJS.ProcessEnv,
  region: string,
  role: StsRole,
  token: string,
): Promise<Expiring<AwsKeys>> {
  const form = formOf("AssumeRoleWithWebIdentity", role);
  form.set("WebIdentityToken", token);
  return askSts(serverOf(env, region), [], form);
}

/** Gets the keys of a role with keys that may assume it. Rejects with errors without secrets. */
export async function assumeRole(
  env: NodeJS.ProcessEnv,
  region: string,
  role: StsRole,
  source: AwsKeySource,
): Promise<Expiring<AwsKeys>> {
  const server = serverOf(env, region);
  const form = formOf("AssumeRole", role);
  const headers = ["host", new URL(server).host, "content-type", FORM];
  const call = { method: "POST", path: "/", headers, body: form.toString() };
  signRequest(call, await source(), { region, service: "sts" }, new Date());
  // The client adds `host` and `content-type` itself.
  return askSts(server, headers.slice(4), form);
}

const FORM = "application/x-www-form-urlencoded";

function serverOf(env: NodeJS.ProcessEnv, region: string): string {
  const url = env.AWS_ENDPOINT_URL_STS || `https://sts.${region}.amazonaws.com`;
  return url.replace(/\/$/, "");
}

function formOf(
  action: string,
  { arn, session, externalId, duration, tags = [] }: StsRole,
): URLSearchParams {
  const members = tags.flatMap(([key, value], index) => [
    [`Tags.member.${index + 1}.Key`, key],
    [`Tags.member.${index + 1}.Value`, value],
  ]);
  return new URLSearchParams({
    Action: action,
    Version: "2011-06-15",
    RoleArn: arn,
    RoleSessionName: session,
    ...(externalId !== undefined && { ExternalId: externalId }),
    ...(duration !== undefined && { DurationSeconds: String(duration) }),
    ...Object.fromEntries(members),
  });
}

async function askSts(
  server: string,
  headers: readonly string[],
  form: URLSearchParams,
): Promise<Expiring<AwsKeys>> {
  const { status, body } = await fetchResponse(
    {
      method: "POST",
      url: `${server}/`,
      headers: ["content-type", FORM, ...headers],
      body: Buffer.from(form.toString()),
    },
    { maxBytes: 65_536, deadline: 5_000 },
  );
  const xml = body.toString("utf8");
  if (status !== 200) throw new Error(`STS refused: ${element(xml, "Code") ?? `status ${status}`}`);
  const [accessKeyId, secretAccessKey, sessionToken, expiration = ""] = [
    element(xml, "AccessKeyId"),
    element(xml, "SecretAccessKey"),
    element(xml, "SessionToken"),
    element(xml, "Expiration"),
  ];
  const expires = Date.parse(expiration);
  if (accessKeyId === undefined || secretAccessKey === undefined || Number.isNaN(expires)) {
    throw new Error("STS returned no credentials");
  }
  return { value: { accessKeyId, secretAccessKey, sessionToken }, expires };
}

/** Returns the text of an element without child elements. Keys have no characters that XML escapes. */
function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<&]*)</${name}>`).exec(xml)?.[1];
}

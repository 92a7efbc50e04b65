import { readFile } from "node:fs/promises";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";

/** The keys of a role that a token of another issuer may take on; undefined: the environment names none. */
export function webIdentityKeys(env: NodeJS.ProcessEnv, region: string): AwsKeySource | undefined {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role } = env;
  if (!file || !role) return undefined;
  const url = env.AWS_ENDPOINT_URL_STS || `https://sts.${region}.amazonaws.com`;
  const session = env.AWS_ROLE_SESSION_NAME || "gwc";
  const keys = new ExpiringValue("AWS credentials by web identity", () =>
    assumeRole(url, role, session, file),
  );
  return () => keys.current();
}

/** AWS STS, AssumeRoleWithWebIdentity: it is not signed. */
async function assumeRole(
  url: string,
  role: string,
  session: string,
  file: string,
): Promise<Expiring<AwsKeys>> {
  const token = (await readFile(file, "utf8")).trim();
  const form = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: session,
    WebIdentityToken: token,
  });
  const { status, body } = await fetchResponse(
    {
      method: "POST",
      url: `${url.replace(/\/$/, "")}/`,
      headers: ["content-type", "application/x-www-form-urlencoded"],
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
    throw new Error("STS gave no credentials");
  }
  return { value: { accessKeyId, secretAccessKey, sessionToken }, expires };
}

/** The text of an element that has no other ones in it: keys have no character that XML escapes. */
function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<&]*)</${name}>`).exec(xml)?.[1];
}

import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { CredentialFields } from "../cloud/credential-fields.ts";
import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";

/** A role of IAM Identity Center, for a user who has logged in (`aws sso login`). */
export interface SsoRole {
  /** Key of the cached login: the name of its session, or the URL of its portal. */
  readonly login: string;
  readonly region: string;
  readonly account: string;
  readonly role: string;
}

/**
 * Returns the keys of a role of IAM Identity Center, with the token that `aws sso login` has cached. Fails when that login
 * has expired: https://docs.aws.amazon.com/sdkref/latest/guide/feature-sso-credentials.html.
 */
export function ssoKeys(env: NodeJS.ProcessEnv, profile: string, role: SsoRole): AwsKeySource {
  const keys = new ExpiringValue(`AWS credentials of the profile "${profile}"`, () =>
    roleCredentials(env, profile, role),
  );
  return () => keys.current();
}

async function roleCredentials(
  env: NodeJS.ProcessEnv,
  profile: string,
  { login, region, account, role }: SsoRole,
): Promise<Expiring<AwsKeys>> {
  const token = await tokenOf(login);
  if (token === undefined) throw new Error(`run "aws sso login --profile ${profile}"`);
  const portal = env.AWS_ENDPOINT_URL_SSO || `https://portal.sso.${region}.amazonaws.com`;
  const query = new URLSearchParams({ role_name: role, account_id: account });
  const { status, body } = await fetchResponse(
    {
      method: "GET",
      url: `${portal.replace(/\/$/, "")}/federation/credentials?${query}`,
      headers: ["x-amz-sso_bearer_token", token],
    },
    { maxBytes: 65_536, deadline: 5_000 },
  );
  if (status !== 200) throw new Error(`IAM Identity Center refused: status ${status}`);
  const what = "the response of IAM Identity Center";
  const fields = CredentialFields.parse(body.toString("utf8"), what).object("roleCredentials");
  if (fields === undefined) throw new Error(`${what} has no credentials`);
  const value = {
    accessKeyId: fields.text("accessKeyId"),
    secretAccessKey: fields.text("secretAccessKey"),
    sessionToken: fields.optionalText("sessionToken"),
  };
  return { value, expires: fields.number("expiration") };
}

/** Reads the token from the cache of AWS's tools; `undefined` if it is absent or expired. */
async function tokenOf(login: string): Promise<string | undefined> {
  const file = join(homedir(), ".aws/sso/cache", `${hash("sha1", login)}.json`);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch {
    return undefined;
  }
  const fields = CredentialFields.parse(text, "the cached login");
  const isGood = Date.parse(fields.text("expiresAt")) > Date.now();
  return isGood ? fields.text("accessToken") : undefined;
}

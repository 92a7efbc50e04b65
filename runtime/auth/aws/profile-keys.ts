import { exec } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { startupError } from "../../process/startup-error.ts";
import { MINUTE } from "../../process/units.ts";
import { WatchedFile } from "../../process/watched-file.ts";
import { CredentialFields } from "../cloud/credential-fields.ts";
import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";
import { containerKeys } from "./container-keys.ts";
import { environmentKeys } from "./environment-keys.ts";
import { instanceKeys } from "./instance-keys.ts";
import { assumeRole, type StsRole } from "./sts.ts";
import { webIdentityRole } from "./web-identity-keys.ts";

/**
 * Returns the keys of the profile that `AWS_PROFILE` names, or else of the default one: its own, those of a role that it
 * assumes or has in IAM Identity Center, or the output of its program. `undefined` if there is no profile. Throws
 * StartupError if the named profile does not exist, or gets its keys in an unsupported way.
 */
export function profileKeys(env: NodeJS.ProcessEnv, region: string): AwsKeySource | undefined {
  const files = new AwsProfileFiles(env);
  const named = env.AWS_PROFILE;
  if (!named && files.profile("default") === undefined) return undefined;
  return new ProfileSource(env, region, files).keysOf(named || "default", []);
}

class ProfileSource {
  readonly #env: NodeJS.ProcessEnv;
  readonly #region: string;
  readonly #files: AwsProfileFiles;

  constructor(env: NodeJS.ProcessEnv, region: string, files: AwsProfileFiles) {
    this.#env = env;
    this.#region = region;
    this.#files = files;
  }

  /** `before`: the profiles that lead to this one. */
  keysOf(name: string, before: readonly string[]): AwsKeySource {
    const profile = this.#files.profile(name);
    if (profile === undefined) throw startupError(`there is no AWS profile "${name}"`);
    const arn = profile.get("role_arn");
    // A profile may assume a role with its own keys.
    if (arn !== undefined && !before.includes(name)) return this.#role(name, arn, profile, before);
    if (ownKeys(profile) !== undefined) {
      return () => ownKeys(this.#files.profile(name)) ?? noKeys(name);
    }
    const sso = this.#ssoRole(name, profile);
    if (sso !== undefined) return ssoKeys(this.#env, name, sso);
    const command = profile.get("credential_process");
    if (command !== undefined) return processKeys(name, command);
    throw startupError(`the AWS profile "${name}" has neither keys nor a supported role`);
  }

  /**
   * Returns the IAM Identity Center role of a profile, or of the session that it names; `undefined` if it has no such role.
   */
  #ssoRole(name: string, profile: AwsProfile): SsoRole | undefined {
    const account = profile.get("sso_account_id");
    const role = profile.get("sso_role_name");
    if (account === undefined || role === undefined) return undefined;
    const session = profile.get("sso_session");
    const portal = session === undefined ? profile : this.#files.ssoSession(session);
    const region = portal?.get("sso_region");
    const login = session ?? profile.get("sso_start_url");
    if (region !== undefined && login !== undefined) return { login, region, account, role };
    throw startupError(
      `the AWS profile "${name}" requires "sso_region", and "sso_session" or "sso_start_url"`,
    );
  }

  #role(name: string, arn: string, profile: AwsProfile, before: readonly string[]): AwsKeySource {
    const duration = profile.get("duration_seconds");
    const role: StsRole = {
      arn,
      session: profile.get("role_session_name") ?? "gwc",
      externalId: profile.get("external_id"),
      duration: duration === undefined ? undefined : Number(duration),
    };
    const file = profile.get("web_identity_token_file");
    if (file !== undefined) return webIdentityRole(this.#env, this.#region, role, file);
    const source = this.#sourceOf(name, profile, before);
    const keys = new ExpiringValue(`AWS credentials of the profile "${name}"`, () =>
      assumeRole(this.#env, this.#region, role, source),
    );
    return () => keys.current();
  }

  #sourceOf(name: string, profile: AwsProfile, before: readonly string[]): AwsKeySource {
    const source = profile.get("source_profile");
    if (source !== undefined) return this.keysOf(source, [...before, name]);
    const keys = this.#machineKeys(profile.get("credential_source"));
    if (keys !== undefined) return keys;
    throw startupError(`the AWS profile "${name}" names no keys to assume its role with`);
  }

  #machineKeys(source: string | undefined): AwsKeySource | undefined {
    switch (source) {
      case "Environment":
        return environmentKeys(this.#env);
      case "EcsContainer":
        return containerKeys(this.#env);
      case "Ec2InstanceMetadata":
        return instanceKeys(this.#env);
      default:
        return undefined;
    }
  }
}

function ownKeys(profile: AwsProfile | undefined): AwsKeys | undefined {
  const accessKeyId = profile?.get("aws_access_key_id");
  const secretAccessKey = profile?.get("aws_secret_access_key");
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: profile?.get("aws_session_token") };
}

function noKeys(name: string): never {
  throw new Error(`the AWS profile "${name}" no longer has keys`);
}

/**
 * Returns the keys that a profile's program prints, `credential_process`:
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html. Runs it in a shell, as AWS's tools do,
 * and again before its keys expire.
 */
function processKeys(profile: string, command: string): AwsKeySource {
  const keys = new ExpiringValue(`AWS credentials of the profile "${profile}"`, () => run(command));
  return () => keys.current();
}

const execute = promisify(exec);

async function run(command: string): Promise<Expiring<AwsKeys>> {
  let printed: string;
  try {
    printed = (await execute(command, { timeout: MINUTE, maxBuffer: 65_536 })).stdout;
  } catch {
    // The original error contains all of the program's output.
    throw new Error("the credential process failed");
  }
  const fields = CredentialFields.parse(printed, "the output of the credential process");
  if (fields.number("Version") !== 1)
    throw new Error("the credential process uses an unsupported version");
  const end = fields.optionalText("Expiration");
  const expires = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end);
  if (Number.isNaN(expires)) throw new Error('"Expiration" of the credentials is not a time');
  const value = {
    accessKeyId: fields.text("AccessKeyId"),
    secretAccessKey: fields.text("SecretAccessKey"),
    sessionToken: fields.optionalText("SessionToken"),
  };
  return { value, expires };
}

/** Settings of a profile by name: `aws_access_key_id`, `role_arn`. */
type AwsProfile = ReadonlyMap<string, string>;

/** Shared files of AWS's tools: `~/.aws/credentials` and `~/.aws/config`, or those that the environment names. */
class AwsProfileFiles {
  readonly #credentials: WatchedFile<ReadonlyMap<string, AwsProfile>> | undefined;
  readonly #config: WatchedFile<ReadonlyMap<string, AwsProfile>> | undefined;
  readonly #sessions: WatchedFile<ReadonlyMap<string, AwsProfile>> | undefined;

  /** Absent files have no profiles. Throws StartupError for a file that cannot be read. */
  constructor(env: NodeJS.ProcessEnv) {
    const folder = join(homedir(), ".aws");
    this.#credentials = open(
      env.AWS_SHARED_CREDENTIALS_FILE || join(folder, "credentials"),
      (title) => title,
    );
    const config = env.AWS_CONFIG_FILE || join(folder, "config");
    this.#config = open(config, configProfile);
    this.#sessions = open(config, ssoSession);
  }

  /** Returns the settings of an IAM Identity Center session; `undefined` if there is no such session. */
  ssoSession(name: string): AwsProfile | undefined {
    return this.#sessions?.current().get(name);
  }

  /**
   * Returns the settings of a profile from both files, where those of the credentials file win; `undefined` if neither has
   * it.
   */
  profile(name: string): AwsProfile | undefined {
    const config = this.#config?.current().get(name);
    const credentials = this.#credentials?.current().get(name);
    if (config === undefined || credentials === undefined) return credentials ?? config;
    return new Map([...config, ...credentials]);
  }
}

/** The configuration file names profiles `[profile NAME]`, except for the default one. */
function configProfile(title: string): string | undefined {
  if (title === "default") return title;
  return /^profile\s+"?([^"]+?)"?$/.exec(title)?.[1];
}

function ssoSession(title: string): string | undefined {
  return /^sso-session\s+"?([^"]+?)"?$/.exec(title)?.[1];
}

function open(
  file: string,
  nameOf: (title: string) => string | undefined,
): WatchedFile<ReadonlyMap<string, AwsProfile>> | undefined {
  if (!existsSync(file)) return undefined;
  return new WatchedFile(file, (text) => readProfiles(text, nameOf));
}

/** Reads sections of `name = value` lines. Indented lines continue nested values, which are not read. */
function readProfiles(
  text: string,
  nameOf: (title: string) => string | undefined,
): ReadonlyMap<string, AwsProfile> {
  const profiles = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const title = /^\[\s*(.*?)\s*\]/.exec(line)?.[1];
    if (title !== undefined) {
      const name = nameOf(title);
      current = name === undefined ? undefined : (profiles.get(name) ?? new Map());
      if (name !== undefined && current !== undefined) profiles.set(name, current);
      continue;
    }
    const [, key = "", value = ""] = /^([^\s#;=][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== "") current?.set(key.toLowerCase(), value.replace(/\s[#;].*$/, "").trimEnd());
  }
  return profiles;
}

/** A role of IAM Identity Center, for a user who has logged in (`aws sso login`). */
interface SsoRole {
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
function ssoKeys(env: NodeJS.ProcessEnv, profile: string, role: SsoRole): AwsKeySource {
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

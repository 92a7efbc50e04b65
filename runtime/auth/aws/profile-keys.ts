import { exec } from "node:child_process";
import { promisify } from "node:util";
import { startupError } from "../../process/startup-error.ts";
import { MINUTE } from "../../process/units.ts";
import { CredentialFields } from "../cloud/credential-fields.ts";
import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";
import { containerKeys } from "./container-keys.ts";
import { environmentKeys } from "./environment-keys.ts";
import { instanceKeys } from "./instance-keys.ts";
import { type AwsProfile, AwsProfileFiles } from "./profile-files.ts";
import { type SsoRole, ssoKeys } from "./sso-keys.ts";
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

import { startupError } from "../../process/startup-error.ts";
import { ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource, AwsKeys } from "./aws-keys.ts";
import { containerKeys } from "./container-keys.ts";
import { environmentKeys } from "./environment-keys.ts";
import { instanceKeys } from "./instance-keys.ts";
import { processKeys } from "./process-keys.ts";
import { type AwsProfile, AwsProfileFiles } from "./profile-files.ts";
import { type SsoRole, ssoKeys } from "./sso-keys.ts";
import { assumeRole, type StsRole } from "./sts.ts";
import { webIdentityRole } from "./web-identity-keys.ts";

/**
 * The keys of the profile that `AWS_PROFILE` names, else of the default one: its own, those of a role that it takes on or of
 * one of IAM Identity Center, or what its program prints.
 * Undefined: there is no profile. Throws StartupError when one is named that is not there, or that gets its keys in a way
 * that is not known here.
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
    if (profile === undefined) throw startupError(`AWS has no profile "${name}"`);
    const arn = profile.get("role_arn");
    // A role may be taken on with the keys of the same profile.
    if (arn !== undefined && !before.includes(name)) return this.#role(name, arn, profile, before);
    if (ownKeys(profile) !== undefined) {
      return () => ownKeys(this.#files.profile(name)) ?? noKeys(name);
    }
    const sso = this.#ssoRole(name, profile);
    if (sso !== undefined) return ssoKeys(this.#env, name, sso);
    const command = profile.get("credential_process");
    if (command !== undefined) return processKeys(name, command);
    throw startupError(`the AWS profile "${name}" has no keys and no role that is known here`);
  }

  /** What a profile says of IAM Identity Center, or the session that it names; undefined: nothing. */
  #ssoRole(name: string, profile: AwsProfile): SsoRole | undefined {
    const account = profile.get("sso_account_id");
    const role = profile.get("sso_role_name");
    if (account === undefined || role === undefined) return undefined;
    const session = profile.get("sso_session");
    const said = session === undefined ? profile : this.#files.ssoSession(session);
    const region = said?.get("sso_region");
    const login = session ?? profile.get("sso_start_url");
    if (region !== undefined && login !== undefined) return { login, region, account, role };
    throw startupError(`the AWS profile "${name}" does not say where its users log in`);
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
    throw startupError(`the AWS profile "${name}" names no keys that take on its role`);
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
  throw new Error(`the AWS profile "${name}" has no keys any more`);
}

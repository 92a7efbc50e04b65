import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { WatchedFile } from "../../process/watched-file.ts";

/** Settings of a profile by name: `aws_access_key_id`, `role_arn`. */
export type AwsProfile = ReadonlyMap<string, string>;

/** Shared files of AWS's tools: `~/.aws/credentials` and `~/.aws/config`, or those that the environment names. */
export class AwsProfileFiles {
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

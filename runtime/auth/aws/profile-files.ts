import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { WatchedFile } from "../../process/watched-file.ts";

/** The settings of a profile by their names: `aws_access_key_id`, `role_arn`. */
export type AwsProfile = ReadonlyMap<string, string>;

/** The files that AWS's tools share: `~/.aws/credentials` and `~/.aws/config`, or those that the environment names. */
export class AwsProfileFiles {
  readonly #credentials: WatchedFile<ReadonlyMap<string, AwsProfile>> | undefined;
  readonly #config: WatchedFile<ReadonlyMap<string, AwsProfile>> | undefined;
  readonly #sessions: WatchedFile<ReadonlyMap<string, AwsProfile>> | undefined;

  /** Files that are not there have no profiles. Throws StartupError for one that can't be read. */
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

  /** What is said of a session of IAM Identity Center; undefined: nothing. */
  ssoSession(name: string): AwsProfile | undefined {
    return this.#sessions?.current().get(name);
  }

  /** What both files say of a profile, those of credentials first; undefined: neither has it. */
  profile(name: string): AwsProfile | undefined {
    const config = this.#config?.current().get(name);
    const credentials = this.#credentials?.current().get(name);
    if (config === undefined || credentials === undefined) return credentials ?? config;
    return new Map([...config, ...credentials]);
  }
}

/** In the file of settings a profile is `[profile NAME]`, but for the default one. */
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

/** Sections of `name = value` lines. Lines that begin with a blank belong to the value before them, which nobody reads. */
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

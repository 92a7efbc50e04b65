import type { IssuerUrlName } from "../../runtime/contents/issuer-urls.ts";

/** A string with parts that the gateway resolves from its environment when it starts. */
export interface EnvTemplate {
  readonly kind: "env";
  readonly parts: readonly (string | EnvVariable)[];
  /** URL that follows from the string, which is an issuer; absent for the string itself. */
  readonly url?: IssuerUrlName;
}

/** `${NAME}` or `${NAME:-fallback}` in the configuration. */
export interface EnvVariable {
  readonly env: string;
  readonly fallback?: string;
}

/** A string that is known at build time, or resolved when the gateway starts. */
export type Text = string | EnvTemplate;

/**
 * Formats a string for display: parts that are resolved at startup as `${NAME}`, because their values may be secrets.
 */
export function shownText(text: Text): string {
  if (typeof text === "string") return text;
  return text.parts.map((part) => (typeof part === "string" ? part : `\${${part.env}}`)).join("");
}

/** A file: a mounted Secret or ConfigMap as NAME/KEY, or another path. */
export interface MountedFile {
  readonly kind: "secret" | "configMap" | "path";
  readonly file: string;
}

/** Settings of the runtime in the compiler: any string in them may be resolved at startup. */
export type AtStartup<Settings> = Settings extends string
  ? string extends Settings
    ? Text
    : Settings
  : Settings extends readonly (infer Item)[]
    ? readonly AtStartup<Item>[]
    : Settings extends object
      ? { readonly [Key in keyof Settings]: AtStartup<Settings[Key]> }
      : Settings;

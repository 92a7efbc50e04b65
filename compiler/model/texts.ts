/** Text with parts that the gateway reads from its environment when it starts. */
export interface EnvTemplate {
  readonly kind: "env";
  readonly parts: readonly (string | EnvVariable)[];
}

/** `${NAME}` or `${NAME:-fallback}` of the configuration. */
export interface EnvVariable {
  readonly env: string;
  readonly fallback?: string;
}

/** A text that is known at build time, or read at start. */
export type Text = string | EnvTemplate;

/** KEY of a mounted Secret or ConfigMap, as NAME/KEY; or the path of another file. */
export interface MountedFile {
  readonly kind: "secret" | "configMap" | "path";
  readonly file: string;
}

/** Runtime settings as the compiler holds them: any text in them may be late. */
export type AtStartup<Settings> = Settings extends string
  ? string extends Settings
    ? Text
    : Settings
  : Settings extends readonly (infer Item)[]
    ? readonly AtStartup<Item>[]
    : Settings extends object
      ? { readonly [Key in keyof Settings]: AtStartup<Settings[Key]> }
      : Settings;

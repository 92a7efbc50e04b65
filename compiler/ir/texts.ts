/** Text with parts that the gateway reads from its environment when it starts. */
export interface LateText {
  readonly kind: "late";
  readonly parts: readonly (string | LateVariable)[];
}

/** `${NAME}` or `${NAME:-fallback}` of the configuration. */
export interface LateVariable {
  readonly env: string;
  readonly fallback?: string;
}

/** A text that is known at build time, or read at start. */
export type Text = string | LateText;

/** KEY of a mounted Secret or ConfigMap, as NAME/KEY; or the path of another file. */
export interface MountedFile {
  readonly kind: "secret" | "configMap" | "path";
  readonly file: string;
}

/** Runtime settings as the compiler holds them: any text in them may be late. */
export type Late<Settings> = Settings extends string
  ? string extends Settings
    ? Text
    : Settings
  : Settings extends readonly (infer Item)[]
    ? readonly Late<Item>[]
    : Settings extends object
      ? { readonly [Key in keyof Settings]: Late<Settings[Key]> }
      : Settings;

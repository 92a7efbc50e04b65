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

/** A text for people: parts that are read at start as `${NAME}`, for their values may be secrets. */
export function shownText(text: Text): string {
  if (typeof text === "string") return text;
  return text.parts.map((part) => (typeof part === "string" ? part : `\${${part.env}}`)).join("");
}

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

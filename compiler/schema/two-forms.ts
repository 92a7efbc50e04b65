import { choice, duration, type Rest, type Schema } from "./schema.ts";

/**
 * The schemas of a field that standalone files and Kubernetes manifests share. Common keywords are written once, with
 * the differences next to them:
 *
 * ```ts
 * const fields = {
 *   codes: bothForms(list(status), { manifest: { maxItems: 16 } }),
 *   backoff: durationOfForms("Delay before each retry."),
 * };
 * const fileSchema = object(formFields("file", fields));
 * const manifestSchema = object(formFields("manifest", fields));
 * ```
 */
export interface TwoForms<File = unknown, Manifest = File> {
  readonly file: Schema<File>;
  readonly manifest: Schema<Manifest>;
}

/** Keywords that do not change the type of a value. */
type Keywords = Rest<
  "type" | "properties" | "additionalProperties" | "items" | "required" | "enum"
>;

/** Keywords in which the forms differ: other bounds, another description. */
interface Differences {
  readonly file?: Keywords;
  readonly manifest?: Keywords;
}

/** Returns the schemas of a field with the same type in both forms. */
export function bothForms<Value>(
  shared: Schema<Value>,
  { file, manifest }: Differences = {},
): TwoForms<Value> {
  return { file: { ...shared, ...file }, manifest: { ...shared, ...manifest } };
}

/** Returns the schemas of a duration, which manifests write as Gateway API does. */
export function durationOfForms(
  description: string,
  shared: Rest<"type" | "description"> = {},
  differences: Differences = {},
): TwoForms<string> {
  const { file, manifest } = bothForms(duration(description, shared), differences);
  return { file, manifest: { ...manifest, format: "gatewayDuration" } };
}

/**
 * Returns the schemas of one of several words, which begin with a capital letter in manifests, also where the
 * description quotes them. `initial` is the default, of both forms or of files alone.
 */
export function wordsOfForms<const Word extends string>(
  description: string,
  words: readonly Word[],
  initial?: Word | { readonly file: Word },
): TwoForms<Word, Capitalize<Word>> {
  const [file, manifest] = typeof initial === "object" ? [initial.file] : [initial, initial];
  const text = words.reduce(
    (before, word) => before.replaceAll(`\`${word}\``, `\`${manifestWord(word)}\``),
    description,
  );
  return {
    file: choice(description, words, file && { default: file }),
    manifest: choice(
      text,
      words.map(manifestWord),
      manifest && { default: manifestWord(manifest) },
    ),
  };
}

/** Returns the schemas of fields in one form. */
export function formFields<
  const Of extends Readonly<Record<string, TwoForms>>,
  Form extends keyof TwoForms,
>(form: Form, fields: Of): { readonly [Key in keyof Of]: Of[Key][Form] } {
  const schemas = Object.entries(fields).map(([name, field]) => [name, field[form]]);
  // The same names, each with its schema of the form.
  return Object.fromEntries(schemas) as { readonly [Key in keyof Of]: Of[Key][Form] };
}

/** Returns the word of a file for the one of a manifest: `failOpen` for `FailOpen`. */
export function fileWord<Word extends string>(word: Word): Uncapitalize<Word> {
  // The type of a word with a small initial.
  return `${word.charAt(0).toLowerCase()}${word.slice(1)}` as Uncapitalize<Word>;
}

/** Returns the word of a manifest for the one of a file: `FailOpen` for `failOpen`. */
export function manifestWord<Word extends string>(word: Word): Capitalize<Word> {
  // The type of a word with a capital initial.
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}` as Capitalize<Word>;
}

import type { Diagnostic } from "../../../compiler/diagnostics/diagnostic.ts";
import type { Schema } from "../../../compiler/schema/schema.ts";
import { placed } from "./placed-field.ts";
import { type KnownValues, valuesOf } from "./sample-values.ts";
import { partOf, type SchemaField, type Step } from "./schema-walk.ts";

/** What becomes of a configuration: the generated text, unless there is a mistake. */
export interface Outcome {
  readonly text: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** A form of the configuration, and what its fields may be given. */
export interface ConfigurationForm {
  readonly schema: Schema;
  readonly compile: (config: unknown) => Outcome;
  /** Configurations in which fields may stand. */
  readonly seeds: readonly unknown[];
  readonly known: KnownValues;
  /** Fields that name something: of most names the only use is to be told that there is no such thing. */
  readonly references?: RegExp;
}

/** What a field does: `acts` when two of its values make two programs, or one of two names is a mistake. */
export type FieldVerdict = "acts" | "does nothing" | "has no case";

/** Whether what a field says decides anything, in any of the configurations. */
export function verdictOf(field: SchemaField, form: ConfigurationForm): FieldVerdict {
  // Of a single value there is no other one: what else is written is a mistake.
  if (field.schema.enum?.length === 1) return "acts";
  let isTold = false;
  for (const seed of form.seeds) {
    const outcomes = variantsOf(field, seed, form).map((config) => form.compile(config).text);
    const texts = outcomes.filter((text) => text !== undefined);
    if (new Set(texts).size > 1) return "acts";
    const isWrong = texts.length > 0 && texts.length < outcomes.length;
    if (isWrong && form.references?.test(field.path.join(".")) === true) return "acts";
    isTold ||= texts.length > 1;
  }
  return isTold ? "does nothing" : "has no case";
}

/** What is said where a field stands, in any of the configurations. */
export function codesOf(field: SchemaField, form: ConfigurationForm): readonly string[] {
  return form.seeds
    .flatMap((seed) => variantsOf(field, seed, form))
    .flatMap((config) => form.compile(config).diagnostics.map(({ code }) => code));
}

/** The configuration with different values of the field, then without it. */
function variantsOf(
  field: SchemaField,
  seed: unknown,
  { schema, known }: ConfigurationForm,
): readonly unknown[] {
  const { path } = field;
  if (isMark(field.schema)) {
    const without = placed(schema, seed, path.slice(0, -1), undefined, known);
    return [without, placed(schema, seed, path, {}, known)];
  }
  const values = [...valuesOf(field.schema, path, known), undefined];
  return values.map((value) => placed(schema, seed, path, value, known));
}

/** An object without fields: that it is there is all that it says. */
function isMark({ type, properties }: Schema): boolean {
  return type === "object" && properties !== undefined;
}

/** A field that says nothing where another one of its object stands. */
export interface SilentField {
  readonly field: readonly Step[];
  readonly beside: string;
}

/** The alternatives of its object beside which a field makes no difference, and nothing is said about it. */
export function silencedBy(field: SchemaField, form: ConfigurationForm): readonly string[] {
  const end = field.path.findLastIndex((step) => step !== "[]");
  const owner = field.path.slice(0, end);
  const object = owner.reduce(partOf, form.schema);
  const { exactlyOneOf = [], atMostOneOf = [] } = object;
  const own = field.path[end] ?? "";
  const others = [exactlyOneOf, atMostOneOf].filter((group) => !group.includes(own)).flat();
  return others.filter((key) => isSilent(field, [...owner, key], form));
}

function isSilent(
  field: SchemaField,
  other: readonly Step[],
  { schema, seeds, known, compile }: ConfigurationForm,
): boolean {
  let isTold = false;
  for (const seed of seeds) {
    const [value] = valuesOf(other.reduce(partOf, schema), other, known);
    const beside = placed(schema, seed, other, value, known);
    const texts = valuesOf(field.schema, field.path, known)
      .map((each) => placed(schema, beside, field.path, each, known))
      .filter((config) => JSON.stringify(config).includes(`"${other.at(-1)}":`))
      .flatMap((config) => compile(config).text ?? []);
    if (new Set(texts).size > 1) return false;
    isTold ||= texts.length > 1;
  }
  return isTold;
}

import { credentialDifferences } from "../../../compiler/inspect/diff/process-differences.ts";
import { programDiff } from "../../../compiler/inspect/diff/program-diff.ts";
import type { Schema } from "../../../compiler/schema/schema.ts";
import type { Outcome } from "./outcome.ts";
import { placed } from "./placed-field.ts";
import { type KnownValues, valuesOf } from "./sample-values.ts";
import { partOf, type SchemaField, type Step } from "./schema-walk.ts";

/** A form of the configuration, and what its fields may be given. */
export interface ConfigurationForm {
  readonly schema: Schema;
  readonly compile: (config: unknown) => Outcome;
  /** Configurations that may contain the fields. */
  readonly seeds: readonly unknown[];
  readonly known: KnownValues;
  /** The configuration in which a field was seen to act last, by the path of the field, of all that it is in, and its name. */
  readonly lastActed: Map<string, unknown>;
  /** The two outcomes in which a field was seen to act, by its path. */
  readonly actedIn: Map<string, readonly [Outcome, Outcome]>;
  /** Fields that name something: of most names the only use is to be told that there is no such thing. */
  readonly references?: RegExp;
}

/** Effect of a field: `acts` if two of its values produce two programs, or one of two names is a mistake. */
export type FieldVerdict = "acts" | "does nothing" | "has no case";

/** Whether what a field says decides anything, in any of the configurations. */
export function verdictOf(field: SchemaField, form: ConfigurationForm): FieldVerdict {
  // Of a single value there is no other one: what else is written is a mistake.
  if (field.schema.enum?.length === 1) return "acts";
  const verdicts = { differ: "acts", equal: "does nothing", mistaken: "has no case" } as const;
  const isName = form.references?.test(field.path.join(".")) === true;
  return verdicts[compareAll(field, form, (seed) => variantsOf(field, seed, form), { isName })];
}

/** Result of configurations: different programs, the same one, or fewer than two without mistakes. */
type Comparison = "differ" | "equal" | "mistaken";

/**
 * Results of the configurations made of each seed: `differ` if those of any seed do or, with `isName`, if some are
 * mistakes and others are not; `most`: maximum number of the likeliest seeds.
 */
function compareAll(
  field: SchemaField,
  form: ConfigurationForm,
  configsOf: (seed: unknown) => Iterable<unknown>,
  { isName = false, most = Infinity } = {},
): Comparison {
  let result: Comparison = "mistaken";
  for (const seed of likeliestFirst(form, field).take(most)) {
    const comparison = compare(configsOf(seed), form, isName);
    if (typeof comparison === "object") {
      remember(field, seed, form);
      if (comparison.outcomes) form.actedIn.set(field.path.join("."), comparison.outcomes);
      return "differ";
    }
    if (comparison === "equal") result = "equal";
  }
  return result;
}

/**
 * The configurations: first that in which the field's nearest neighbour acted, then the one where a field of its name did,
 * then those where most of what is around the field is there. Most fields act in the first.
 */
function* likeliestFirst(
  { seeds, lastActed }: ConfigurationForm,
  field: SchemaField,
): Generator<unknown, void> {
  const place = placesOf(field).find((each) => seeds.includes(lastActed.get(each)));
  const likeliest = new Set(
    [place ?? "", nameOf(field)]
      .map((each) => lastActed.get(each))
      .filter((seed) => seeds.includes(seed)),
  );
  yield* likeliest;
  const depths = new Map(seeds.map((seed) => [seed, depthOf(seed, field.path)]));
  const depth = (seed: unknown) => depths.get(seed) ?? 0;
  yield* seeds.filter((seed) => !likeliest.has(seed)).sort((a, b) => depth(b) - depth(a));
}

/** A field did something in this configuration. */
function remember(field: SchemaField, seed: unknown, { lastActed }: ConfigurationForm): void {
  for (const place of [...placesOf(field), nameOf(field)]) lastActed.set(place, seed);
}

/** The path of a field, and those of all that it is in, from the field outwards. */
function placesOf({ path }: SchemaField): readonly string[] {
  return path.map((_, index) => path.slice(0, path.length - index).join("."));
}

/** A field's name with that of what it is in: `azure.scope`. */
function nameOf({ path }: SchemaField): string {
  return path
    .filter((step) => step !== "[]")
    .slice(-2)
    .join(".");
}

/** How many steps towards a field a configuration has already. */
function depthOf(config: unknown, [step, ...rest]: readonly Step[]): number {
  if (step === undefined || typeof config !== "object" || config === null) return 0;
  const isAny = step === "[]" || step === "*";
  const inner: unknown = isAny ? Object.values(config)[0] : Reflect.get(config, step);
  return inner === undefined ? 0 : 1 + depthOf(inner, rest);
}

/** Compiles configurations until two outcomes differ: those, unless one of them is a mistake. */
function compare(
  configs: Iterable<unknown>,
  { compile }: ConfigurationForm,
  isName: boolean,
): "equal" | "mistaken" | { readonly outcomes: readonly [Outcome, Outcome] | undefined } {
  const made: Outcome[] = [];
  let areWrong = false;
  for (const config of configs) {
    const outcome = compile(config);
    if (outcome.text === undefined) areWrong = true;
    else made.push(outcome);
    const [first] = made;
    const isOther = outcome.text !== undefined && outcome.text !== first?.text;
    if (isOther && first !== undefined) return { outcomes: [first, outcome] };
    if (isName && areWrong && made.length > 0) return { outcomes: undefined };
  }
  return made.length > 1 ? "equal" : "mistaken";
}

/** The fields whose values made two outcomes of which `gwc diff` says nothing. */
export function unseenBy({ actedIn }: Pick<ConfigurationForm, "actedIn">): readonly string[] {
  return [...actedIn].flatMap(([field, [before, after]]) => {
    if (before.program === undefined || after.program === undefined) return [];
    const { differences, undecided } = programDiff(before.program, after.program);
    const credentials = credentialDifferences(before.literals, after.literals);
    return differences.length + undecided.length + credentials.length === 0 ? field : [];
  });
}

/** A configuration with the field and without mistakes. */
export function acceptedWith(field: SchemaField, form: ConfigurationForm): unknown {
  for (const seed of likeliestFirst(form, field))
    for (const config of variantsOf(field, seed, form))
      if (form.compile(config).text !== undefined) return config;
  return undefined;
}

/** Whether any of the configurations has a diagnostic at the place of a field. */
export function isTold(field: SchemaField, code: string, form: ConfigurationForm): boolean {
  for (const seed of likeliestFirst(form, field)) {
    const isToldIn = variantsOf(field, seed, form).some((config) =>
      form.compile(config).diagnostics.some((diagnostic) => diagnostic.code === code),
    );
    if (!isToldIn) continue;
    remember(field, seed, form);
    return true;
  }
  return false;
}

/** The configuration with different values of the field, then without it: each is made when the ones before it showed nothing. */
function* variantsOf(
  field: SchemaField,
  seed: unknown,
  { schema, known }: ConfigurationForm,
): Generator<unknown, void> {
  const { path } = field;
  if (isMark(field.schema)) {
    yield placed(schema, seed, path.slice(0, -1), undefined, known);
    yield placed(schema, seed, path, {}, known);
    return;
  }
  for (const value of [...valuesOf(field.schema, path, known), undefined])
    yield placed(schema, seed, path, value, known);
}

/** An object without fields: that it is there is all that it says. */
function isMark({ type, properties }: Schema): boolean {
  return type === "object" && properties !== undefined;
}

/** The alternatives of its object with which a field makes no difference, without a diagnostic. */
export function silencedBy(field: SchemaField, form: ConfigurationForm): readonly string[] {
  const end = field.path.findLastIndex((step) => step !== "[]");
  const owner = field.path.slice(0, end);
  const object = owner.reduce(partOf, form.schema);
  const { exactlyOneOf = [], atMostOneOf = [] } = object;
  const own = field.path[end] ?? "";
  const others = [exactlyOneOf, atMostOneOf].filter((group) => !group.includes(own)).flat();
  return others.filter((key) => isSilent(field, [...owner, key], form));
}

/** A field is silenced where it acts otherwise: these configurations are where it does so likeliest. */
const LIKELY_SEEDS = 3;

function isSilent(field: SchemaField, other: readonly Step[], form: ConfigurationForm): boolean {
  const { schema, known } = form;
  const [value] = valuesOf(other.reduce(partOf, schema), other, known);
  const besides = compareAll(
    field,
    form,
    (seed) => {
      const neighbour = placed(schema, seed, other, value, known);
      return valuesOf(field.schema, field.path, known)
        .values()
        .map((each) => placed(schema, neighbour, field.path, each, known))
        .filter((config) => JSON.stringify(config).includes(`"${other.at(-1)}":`));
    },
    { most: LIKELY_SEEDS },
  );
  return besides === "equal";
}

import { type Diagnostic, isError } from "../../../compiler/diagnostics/diagnostic.ts";
import type { Schema } from "../../../compiler/schema/schema.ts";
import { areApart, type MadeMistake, possibleMistakes, withMade } from "./made-mistakes.ts";
import type { Outcome } from "./outcome.ts";
import { placed } from "./placed-field.ts";
import { type KnownValues, valuesOf } from "./sample-values.ts";
import { fieldsOf, type SchemaField, type Step } from "./schema-walk.ts";

/** A form of configurations, in which mistakes are made. */
export interface MistakenForm {
  readonly schema: Schema;
  readonly known: KnownValues;
  /** Configurations without mistakes. */
  readonly seeds: readonly unknown[];
  readonly compile: (config: unknown) => Outcome;
  /** Whether a field has the schema of another place, where it is tested. */
  readonly isRepeated: (path: readonly Step[]) => boolean;
  /** Whether a mistake can be made in this form. */
  readonly canBeMade?: (mistake: MadeMistake) => boolean;
}

/** How much is tried. */
export interface Effort {
  /** One of this many fields is tried in a configuration that has it. */
  readonly stride: number;
  /** Number of pairs for each configuration. */
  readonly rounds: number;
  readonly seed: number;
}

/** Unexpected results. */
export interface Findings {
  /** Pairs of mistakes that were tried. */
  readonly pairs: number;
  /** Mistakes with other than one error. */
  readonly uneven: readonly unknown[];
  /** Mistakes that are not found, or only, next to others. */
  readonly hidden: readonly unknown[];
}

/** Makes mistakes in configurations with every field of a form: alone, and two or three at once. */
export function tryMistakes(form: MistakenForm, { stride, rounds, seed }: Effort): Findings {
  const random = randomNumbers(seed);
  const fields = fieldsOf(form.schema).filter(({ path }) => !form.isRepeated(path));
  const withField = fields.filter((_, index) => index % stride === seed % stride);
  const bases = [...form.seeds, ...withField.flatMap((field) => baseWith(field, form) ?? [])];
  let pairs = 0;
  const uneven: unknown[] = [];
  const hidden: unknown[] = [];
  for (const shared of bases) {
    // Objects that occur in several places would have a mistake in each.
    const base: unknown = JSON.parse(JSON.stringify(shared));
    const possible = possibleMistakes(form.schema, base).filter(
      (mistake) => form.canBeMade?.(mistake) !== false,
    );
    const alone = new Map<MadeMistake, readonly string[]>();
    const errorsAlone = (mistake: MadeMistake): readonly string[] => {
      const found = alone.get(mistake) ?? errorsOf(withMade(base, [mistake]), form);
      if (!alone.has(mistake) && found.length > 1) uneven.push([mistake.title, found]);
      alone.set(mistake, found);
      return found;
    };
    for (let round = 0; round < rounds && possible.length > 0; round += 1) {
      const chosen = apart(
        Array.from({ length: 2 + random(2) }, () => possible[random(possible.length)]),
      );
      if (chosen.length < 2) continue;
      pairs += 1;
      const expected = [...new Set(chosen.flatMap(errorsAlone))].sort();
      const together = errorsOf(withMade(base, chosen), form);
      if (expected.join("\n") === together.join("\n")) continue;
      const titles = chosen.map(({ title }) => title);
      hidden.push({
        titles,
        hidden: expected.filter((each) => !together.includes(each)),
        added: together.filter((each) => !expected.includes(each)),
      });
    }
  }
  return { pairs, uneven, hidden };
}

/** Returns the mistakes that can be made at once. */
function apart(mistakes: readonly (MadeMistake | undefined)[]): readonly MadeMistake[] {
  const chosen: MadeMistake[] = [];
  for (const next of mistakes)
    if (next !== undefined && chosen.every((each) => areApart(each, next))) chosen.push(next);
  return chosen;
}

/** Returns a configuration without errors that has a field. */
function baseWith({ path, schema: own }: SchemaField, form: MistakenForm): unknown {
  const { schema, known, seeds } = form;
  const likely = seeds.toSorted((a, b) => depthOf(b, path) - depthOf(a, path)).slice(0, 2);
  for (const seed of likely) {
    if (valueAt(seed, path) !== undefined) return seed;
    const [value] = valuesOf(own, path, known);
    const config = placed(schema, seed, path, value, known);
    const isSound = valueAt(config, path) !== undefined && errorsOf(config, form).length === 0;
    if (isSound) return config;
  }
  return undefined;
}

function valueAt(config: unknown, path: readonly Step[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (typeof at !== "object" || at === null) return undefined;
    return step === "[]" || step === "*" ? Object.values(at)[0] : Reflect.get(at, step);
  }, config);
}

/** Returns the number of steps towards a field a configuration has. */
function depthOf(config: unknown, path: readonly Step[]): number {
  const missing = path.findIndex((_, at) => valueAt(config, path.slice(0, at + 1)) === undefined);
  return missing < 0 ? path.length : missing;
}

function errorsOf(config: unknown, { compile }: MistakenForm): readonly string[] {
  const errors = compile(config).diagnostics.filter((each) => isError(each, false));
  return [...new Set(errors.map(lineOf))].sort();
}

/** Returns the place and the kind of a diagnostic: what its hint suggests may depend on other mistakes. */
function lineOf({ code, at }: Diagnostic): string {
  return `${code} ${at.resource?.name ?? ""} ${at.path.join(".")}`;
}

/** Returns random numbers below a limit, the same for the same seed. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * limit);
  };
}

import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Json } from "../../model/json.ts";
import { type LiteralSecrets, withoutLiteral } from "../../model/literal-secrets.ts";
import type { EnvTemplate, Text } from "../../model/texts.ts";
import { map, type Schema } from "../../schema/schema.ts";
import { validatedPart } from "../../schema/validated-part.ts";
import { declaredOptions, optionSchema } from "./declared-options.ts";

/** A value in `with`: any JSON, whose strings may be resolved when the gateway starts. */
export type OptionInput = Json | EnvTemplate | readonly (Json | EnvTemplate)[];

/** Description of `with`, in both forms. */
export const OPTIONS = "Options of the policy, as its module declares them.";

const variable: Schema<OptionInput> = {
  description: "Value of the option, of the declared type.",
  readAtStart: true,
  items: { readAtStart: true },
};

/** Schema of `with`, before the policy is read. */
export const withSchema: Schema<Readonly<Record<string, OptionInput>>> = map(variable, {
  description: OPTIONS,
});

/** Services needed to resolve options. */
interface OptionContext {
  readonly diagnostics: Diagnostics;
  readonly literals: LiteralSecrets;
}

/** Options as configured, and the names of those whose values are in files. */
interface GivenOptions {
  readonly options: Readonly<Record<string, OptionInput>>;
  readonly secrets: readonly string[];
}

/** The options of a configuration, complete with defaults, by name. */
export type ResolvedOptions = Readonly<Record<string, OptionInput>>;

/**
 * Validates options against their declaration and adds defaults; returns `undefined` after mistakes (reported). Literal
 * credentials become variables.
 */
export function resolveOptions(
  declared: Json,
  { options: given, secrets }: GivenOptions,
  origin: Origin,
  context: OptionContext,
): ResolvedOptions | undefined {
  const options = declaredOptions(declared);
  for (const name of secrets) {
    if (options.some(([own, option]) => own === name && option.secret === true)) continue;
    const expected = "the name of an option that the policy declares as a secret";
    const at = { ...origin, path: [...origin.path.slice(0, -1), "secrets", name] };
    context.diagnostics.report("bad-format", keyPlace(at), { field: `"${name}"`, expected });
    return undefined;
  }
  const required = options.flatMap(([name, option]) =>
    option.required === true && !secrets.includes(name) ? [name] : [],
  );
  const fields = Object.fromEntries(options.map(([name, each]) => [name, optionSchema(each)]));
  const schema: Schema<Readonly<Record<string, OptionInput>>> = {
    ...{ type: "object", properties: fields, additionalProperties: false },
    required,
    description: "Options of the policy.",
  };
  const valid = validatedPart(schema, given, "with", origin, context.diagnostics);
  if (valid === undefined) return undefined;
  return Object.fromEntries(
    options.flatMap(([name, option]) => {
      if (secrets.includes(name)) return [];
      const value = valid[name] ?? option.default;
      if (value === undefined) return [];
      const isSecret = option.secret === true && (typeof value === "string" || isTemplate(value));
      const kept = isSecret ? secretText(value, name, origin, context) : value;
      return [[name, kept] as const];
    }),
  );
}

function secretText(value: Text, name: string, origin: Origin, context: OptionContext): Text {
  return withoutLiteral(value, childOf(origin, name), { field: `"${name}"` }, context);
}

function isTemplate(value: OptionInput): value is EnvTemplate {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "env";
}

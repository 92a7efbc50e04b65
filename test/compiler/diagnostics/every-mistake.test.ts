import { expect, it } from "vitest";
import { standaloneSchema } from "../../../compiler/1-parse/standalone/standalone.ts";
import { type Diagnostic, isError } from "../../../compiler/diagnostics/diagnostic.ts";
import type { ConfigValue } from "../../../compiler/schema/config-values.ts";
import { files, known, seeds } from "../fields/file-cases.ts";
import { fileCompiler } from "../fields/file-compiler.ts";
import { placed } from "../fields/placed-field.ts";
import { valuesOf } from "../fields/sample-values.ts";
import { fieldsOf, type SchemaField, type Step, valueWithAll } from "../fields/schema-walk.ts";

const schema = standaloneSchema();
/** Parts that have the same schema in several places: one place is tested. */
const REPEATED =
  /promptGuard\..*\.policies\.|^gateways\.\*\.listeners\.\[\]\.|^(?:(?:llm|mcp)\.policies|(?:routeGroups\.\[\]\.)?routes\.\[\]|tcpRoutes\.\[\]|policies\.\[\]\.policy)\.|\.(conditional\.\[\]|extAuth|rateLimit|externalModeration)\.|\.(remoteRateLimit|extProc|endpointPicker|webhook|requestMirror|extAuthz)\..*policies\.|(tracing|otlp|logging)\..*policies\.|(backends|providers|models|defaults|targets)\b.*\.policies\./;
/** Every field is tested in the long run, one of this many in the usual one. */
const STRIDE = process.env.GWC_LONG_TESTS === undefined ? 6 : 1;

const isRepeated = (path: readonly Step[]): boolean => REPEATED.test(`${path.join(".")}.`);
const examples = [valueWithAll(schema, isRepeated), ...seeds] as readonly ConfigValue[];
const compile = fileCompiler(files, examples);
const fields = fieldsOf(schema).filter(({ path }) => !isRepeated(path));

/** A value that is wrong for a field. */
interface Mistake {
  readonly path: readonly Step[];
  readonly value: unknown;
}

/** Mistakes that the schema finds, and those that only a later phase finds. */
function mistakesOf({ path, schema: field }: SchemaField): readonly Mistake[] {
  const { type = [], minimum = 0, maximum = Infinity, properties, format, pattern } = field;
  const types = [type].flat();
  const isString = types.length === 1 && types[0] === "string";
  const isForeign = field.enum !== undefined || format !== undefined || pattern !== undefined;
  const values = [
    ...(types.length === 1 ? [types[0] === "array" ? { unknown: 1 } : [[]]] : []),
    ...(maximum < 1e15 ? [maximum + 1] : []),
    ...(minimum > 0 ? [minimum - 1] : []),
    ...(isString && isForeign ? ["{"] : []),
    ...(types.length === 1 && properties !== undefined ? [{ zzzzzz: 1 }] : []),
    ...laterMistakesOf({ path, schema: field }),
  ];
  return values.map((value) => ({ path, value }));
}

function laterMistakesOf({ path, schema: field }: SchemaField): readonly unknown[] {
  if (field.expression === true) return ["request.path =="];
  if (field.isPattern === true) return ["("];
  if (path.join(".") === "config.logging.level") return ["verbose"];
  return path.at(-1) === "backend" && field.type === "string" ? ["nobody"] : [];
}

/** Configurations without errors that have all of the fields. */
function baseOf(all: readonly SchemaField[]): unknown {
  const [{ path } = { path: [] }] = all;
  const likely = seeds.toSorted((a, b) => depthOf(b, path) - depthOf(a, path)).slice(0, 3);
  for (const seed of likely) {
    for (const index of [0, 1]) {
      const config = all.reduce<unknown>((before, field) => {
        if (valueAt(before, field.path) !== undefined) return before;
        const value = valuesOf(field.schema, field.path, known)[index];
        return placed(schema, before, field.path, value, known);
      }, seed);
      const hasAll = all.every((field) => valueAt(config, field.path) !== undefined);
      if (hasAll && errorsOf(config).length === 0) return config;
    }
  }
  return undefined;
}

function valueAt(config: unknown, path: readonly Step[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (typeof at !== "object" || at === null) return undefined;
    return step === "[]" || step === "*" ? Object.values(at)[0] : Reflect.get(at, step);
  }, config);
}

/** How many steps towards a field a configuration has. */
function depthOf(config: unknown, path: readonly Step[]): number {
  const missing = path.findIndex((_, at) => valueAt(config, path.slice(0, at + 1)) === undefined);
  return missing < 0 ? path.length : missing;
}

function errorsOf(config: unknown): readonly string[] {
  const errors = compile(config).diagnostics.filter((each) => isError(each, false));
  return [...new Set(errors.map(lineOf))].sort();
}

function lineOf({ code, at, params }: Diagnostic): string {
  return `${code} ${at.path.join(".")} ${JSON.stringify(params)}`;
}

function withMistakes(base: unknown, mistakes: readonly Mistake[]): unknown {
  return mistakes.reduce<unknown>(
    (config, { path, value }) =>
      isExtension(value)
        ? placed(schema, config, path, { ...(valueAt(base, path) as object), ...value }, known)
        : placed(schema, config, path, value, known),
    base,
  );
}

function isExtension(value: unknown): value is object {
  return typeof value === "object" && value !== null && "zzzzzz" in value;
}

it("one mistake is one error, whatever the field", { timeout: 600_000 }, () => {
  const found = fields.flatMap((field, index) => {
    if (index % STRIDE !== 0) return [];
    const base = baseOf([field]);
    if (base === undefined) return [];
    return mistakesOf(field).map((mistake) => [mistake, errorsOf(withMistakes(base, [mistake]))]);
  });
  expect(found.length).toBeGreaterThan(200);
  expect(found.filter(([, errors]) => Array.isArray(errors) && errors.length > 1)).toEqual([]);
});

it("two mistakes of a file are both found", { timeout: 600_000 }, () => {
  let count = 0;
  const hidden = fields.flatMap((first, index) => {
    const isLate = laterMistakesOf(first).length > 0;
    if (index % STRIDE !== 0 && !isLate) return [];
    const near = isLate ? [-2, -1, 1, 2] : [1];
    return near.flatMap((distance) => {
      const second = fields[index + distance];
      if (second === undefined || isInside(first, second) || isInside(second, first)) return [];
      // Without the names of gateways, no reference to one can be wrong.
      if (first.path.join(".") === "mcp.gateways.[]" && second.path.join(".") === "gateways")
        return [];
      const base = baseOf([first, second]);
      const one = mistakesOf(first).at(-1);
      const other = mistakesOf(second)[count % Math.max(1, mistakesOf(second).length)];
      if (base === undefined || one === undefined || other === undefined) return [];
      count += 1;
      const apart = [one, other].flatMap((mistake) => errorsOf(withMistakes(base, [mistake])));
      const together = errorsOf(withMistakes(base, [one, other]));
      const expected = [...new Set(apart)].sort();
      return expected.join("\n") === together.join("\n")
        ? []
        : [{ one, other, expected, together }];
    });
  });
  expect(count).toBeGreaterThan(100);
  expect(hidden).toEqual([]);
});

function isInside({ path }: SchemaField, outer: SchemaField): boolean {
  return outer.path.every((step, index) => path[index] === step);
}

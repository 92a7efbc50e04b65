import { isWritable, type Schema } from "../../../compiler/schema/schema.ts";
import { partOf, type Step } from "./schema-walk.ts";

/** Values that a field may be given, by the end of its path: where the schema alone does not say what makes sense. */
export type KnownValues = Readonly<Record<string, readonly unknown[]>>;

/** Values of a schema that differ, the first one the simplest. */
export function valuesOf(
  schema: Schema,
  path: readonly Step[],
  known: KnownValues,
): readonly unknown[] {
  const given = knownOf(path, known);
  if (given !== undefined) return given;
  if (schema.enum !== undefined) return schema.enum;
  if (schema.expression === true) return ["true", "false", "'a'", "'b'"];
  if (schema.type === undefined) return ["aa", "bb"];
  const types = [schema.type].flat();
  return types.flatMap((type): readonly unknown[] => {
    switch (type) {
      case "boolean":
        return [true, false];
      case "integer":
      case "number":
        return numbers(schema);
      case "string":
        return texts(schema);
      case "array": {
        const items = valuesOf(schema.items ?? {}, [...path, "[]"], known);
        return [...items.map((item) => [item]), ...(schema.minItems === undefined ? [[]] : [])];
      }
      case "object":
        return objects(schema, path, known);
      default:
        return [];
    }
  });
}

/** The values that are known for a path, by the longest end of it. */
export function knownOf(path: readonly Step[], known: KnownValues): readonly unknown[] | undefined {
  const ends = endsOf(known).get(path.at(-1) ?? "");
  if (ends === undefined) return undefined;
  const whole = `.${path.join(".")}`;
  const longest = ends.find((each) => whole.endsWith(`.${each}`));
  return longest === undefined ? undefined : known[longest];
}

/** The ends of paths by their last step, the longest first. */
function endsOf(known: KnownValues): ReadonlyMap<string, readonly string[]> {
  let ends = endsByStep.get(known);
  if (ends === undefined) {
    const longestFirst = Object.keys(known).sort((a, b) => b.length - a.length);
    ends = Map.groupBy(longestFirst, (each) => each.slice(each.lastIndexOf(".") + 1));
    endsByStep.set(known, ends);
  }
  return ends;
}

const endsByStep = new WeakMap<KnownValues, ReadonlyMap<string, readonly string[]>>();

/** An object with what it needs, and `key` among that. */
export function objectWith(
  schema: Schema,
  path: readonly Step[],
  known: KnownValues,
  key?: string,
): Readonly<Record<string, unknown>> {
  const { required = [], exactlyOneOf = [], atLeastOneOf = [] } = schema;
  const choice = (keys: readonly string[]): readonly string[] =>
    keys.length === 0 || keys.some((each) => each === key || required.includes(each))
      ? []
      : keys.filter((each) => isWritable(schema.properties?.[each] ?? {})).slice(0, 1);
  const keys = [...required, ...choice(exactlyOneOf), ...choice(atLeastOneOf)];
  return Object.fromEntries(
    keys.map((each) => [each, valuesOf(partOf(schema, each), [...path, each], known)[0]]),
  );
}

function objects(schema: Schema, path: readonly Step[], known: KnownValues): readonly unknown[] {
  const rest = schema.additionalProperties;
  if (typeof rest === "object" && schema.properties === undefined) {
    const values = valuesOf(rest, [...path, "*"], known);
    return values.flatMap((value) => [{ a: value }, { b: value }]);
  }
  const first = objectWith(schema, path, known);
  const others = Object.entries(schema.properties ?? {}).flatMap(([key, each]) => {
    if (!isWritable(each) || each.aliasOf !== undefined || each.type === "object") return [];
    const base = objectWith(schema, path, known, key);
    return valuesOf(each, [...path, key], known)
      .slice(0, 2)
      .map((value) => ({ ...base, [key]: value }));
  });
  return [first, ...others].slice(0, 9);
}

function numbers({ minimum = 0, maximum = 1000, default: usual }: Schema): readonly number[] {
  const wanted = [minimum + 1, minimum + 2, 7, minimum, Math.min(maximum, minimum + 1000)];
  return [...new Set(wanted)].filter((n) => n >= minimum && n <= maximum && n !== usual);
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  duration: ["7s", "11s"],
  gatewayDuration: ["7s", "11s"],
  url: ["https://a.test/x", "https://b.test/y"],
  hostname: ["a.test", "b.test"],
  cidr: ["10.0.0.0/8", "192.168.0.0/16"],
  address: ["127.0.0.1:9001", "127.0.0.1:9002"],
  "address-or-off": ["127.0.0.1:9003", "127.0.0.1:9004"],
  ip: ["127.0.0.1", "127.0.0.2"],
};

const TEXTS = ["aa", "bb", "/aa", "/bb", "AA", "BB", "https://a.test", "https://b.test", "1", "2"];

function texts({ format, pattern, maxLength = 100 }: Schema): readonly string[] {
  const all = format === undefined ? TEXTS : (FORMATS[format] ?? []);
  const test = new RegExp(pattern ?? "");
  return all.filter((text) => test.test(text) && text.length <= maxLength);
}

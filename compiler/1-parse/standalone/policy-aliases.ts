import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { PolicyKind } from "../../ir/policies.ts";
import { policies, policyOf } from "../../policies/index.ts";
import { object, type Schema } from "../../schema/schema.ts";

/** Alternative place of a policy in the file: a key of `policies`, or a field of one. */
interface Alias {
  readonly kind: PolicyKind;
  readonly path: readonly [key: string] | readonly [key: string, field: string];
}

const ALIASES: readonly Alias[] = policies.flatMap(({ kind, aliases = [] }) =>
  aliases.map((path) => ({ kind, path })),
);

/** Places of each policy, in request order. */
const PLACES = policies.map(({ kind }) => ({
  kind,
  paths: [[kind], ...ALIASES.flatMap((each) => (each.kind === kind ? [each.path] : []))],
}));

/** Returns the alternative keys of `policies` with their schemas, for the policies in `kinds`. */
export function aliasSchemas(kinds: readonly PolicyKind[]): Readonly<Record<string, Schema>> {
  const schemas: Record<string, Schema> = {};
  const wanted = ALIASES.filter(({ kind }) => kinds.includes(kind));
  for (const [key, aliases] of Map.groupBy(wanted, ({ path }) => path[0])) {
    const [first] = aliases;
    if (first === undefined) continue;
    schemas[key] = first.path.length === 1 ? policyOf(first.kind).schema : grouped(aliases);
  }
  return schemas;
}

/** The value of a policy, and its place. */
export interface AliasedPolicy {
  readonly kind: PolicyKind;
  readonly value: unknown;
  readonly origin: Origin;
}

/** Returns the policies of a validated `policies` value in request order; reports one that is configured twice. */
export function canonicalPolicies(
  given: Readonly<Record<string, unknown>>,
  origin: Origin,
  diagnostics: Diagnostics,
): readonly AliasedPolicy[] {
  // Most routes have no policies, and files may have many routes.
  if (Object.keys(given).length === 0) return [];
  return PLACES.flatMap(({ kind, paths }) => {
    const [found, second] = paths.flatMap((path) => {
      const value = path.reduce<unknown>(memberOf, given);
      return value === undefined ? [] : [{ kind, value, origin: childOf(origin, ...path), path }];
    });
    if (found === undefined) return [];
    if (second !== undefined) {
      const names = { first: found.path.join("."), second: second.path.join(".") };
      diagnostics.report("duplicate-policy", keyPlace(second.origin), names);
    }
    return [found];
  });
}

function grouped(aliases: readonly Alias[]): Schema {
  const fields = Object.fromEntries(
    aliases.map(({ kind, path }) => [path[1] ?? "", policyOf(kind).schema]),
  );
  const names = Object.keys(fields);
  const kinds = aliases.map(({ kind }) => `\`${kind}\``).join(" and ");
  return object(fields, {
    atLeastOneOf: names,
    description: `${kinds}, in the form of the Kubernetes resources.`,
  });
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}

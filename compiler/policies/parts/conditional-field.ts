import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { list, object, type Schema, type ValueCheck } from "../../schema/schema.ts";
import { ALTERNATIVES, condition, conditionalAlone } from "./conditions.ts";

/**
 * Returns the schema of a GatewayPolicy's field with the alternative `conditional`, a list of values with
 * conditions.
 */
export function orConditional(one: Schema): Schema {
  const { required = [], exactlyOneOf = [], atLeastOneOf = [], checks = [], ...rest } = one;
  const conditional = list(
    object(
      {
        condition,
        policy: { description: "Value that applies.", ...one },
      },
      { required: ["policy"] },
    ),
    {
      minItems: 1,
      maxItems: 16,
      description: ALTERNATIVES,
    },
  );
  const others = Object.keys(one.properties ?? {});
  const choice = exactlyOneOf.length > 0 ? exactlyOneOf : required.slice(0, 1);
  const needed = required.filter((field) => !choice.includes(field));
  return {
    ...rest,
    properties: { ...one.properties, conditional },
    ...(choice.length > 0 && { exactlyOneOf: [...choice, "conditional"] }),
    ...(atLeastOneOf.length > 0 && { atLeastOneOf: [...atLeastOneOf, "conditional"] }),
    checks: [
      ...checks.map(unlessConditional),
      ...needed.map(isNeeded),
      conditionalAlone("the other fields", others),
    ],
  };
}

/**
 * Returns the entries of `conditional`, or `undefined` if absent; of a field that several policies share, the
 * entries' values of `part`.
 */
export function conditionalEntries(
  value: unknown,
  part: string | undefined,
  origin: Origin,
): readonly ConditionalEntry[] | undefined {
  const entries = memberOf(value, "conditional");
  if (!Array.isArray(entries)) return undefined;
  return entries.map((entry: unknown, index): ConditionalEntry => {
    const at = childOf(origin, "conditional", index);
    const condition = memberOf(entry, "condition");
    const policy = memberOf(entry, "policy");
    const own = part === undefined ? policy : memberOf(policy, part);
    const place = childOf(at, "policy");
    return {
      condition:
        typeof condition === "string"
          ? { text: condition, origin: childOf(at, "condition") }
          : undefined,
      value: own,
      origin: part === undefined || own === undefined ? place : childOf(place, part),
    };
  });
}

/** One entry of `conditional`, as written. */
export interface ConditionalEntry {
  readonly condition: { readonly text: string; readonly origin: Origin } | undefined;
  /** `undefined` if the entry does not set this policy. */
  readonly value: unknown;
  readonly origin: Origin;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function unlessConditional(check: ValueCheck): ValueCheck {
  return {
    ...check,
    holds: (value) => "conditional" in value || check.holds(value),
    cel: `has(self.conditional) || (${check.cel})`,
  };
}

function isNeeded(field: string): ValueCheck {
  return unlessConditional({
    message: `"${field}" is required`,
    holds: (value) => field in value,
    cel: `has(self.${field})`,
  });
}

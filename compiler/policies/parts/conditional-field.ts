import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { expression, list, object, type Schema, type ValueCheck } from "../../schema/schema.ts";
import { standsAlone } from "./conditions.ts";

/** What a field of a GatewayPolicy says, or in its place `conditional`: several of it, each with its condition. */
export function orConditional(one: Schema): Schema {
  const { required = [], exactlyOneOf = [], atLeastOneOf = [], checks = [], ...rest } = one;
  const conditional = list(
    object(
      {
        condition: expression("When it acts; only the last entry may be without."),
        policy: { description: "What acts then.", ...one },
      },
      { required: ["policy"] },
    ),
    {
      minItems: 1,
      maxItems: 16,
      description: "Several of them: the first whose condition is true acts, or none.",
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
      standsAlone("the rest", others),
    ],
  };
}

/** The entries of a value that has `conditional`; of a field that several policies share, what each says of this part. */
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

/** One of several forms of a policy, as the field has it. */
export interface ConditionalEntry {
  readonly condition: { readonly text: string; readonly origin: Origin } | undefined;
  /** Undefined: it says nothing of the policy. */
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

import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ValueMatch, ValueMatchConfig } from "../../model/matches.ts";
import type { Rule } from "../../model/rules.ts";
import { type Infer, list, object } from "../../schema/schema.ts";
import type { IdentityContext } from "../parts/known-identities.ts";
import { lowerRules, type RuleConfig, resolveRules, rulesSchema } from "../parts/rules.ts";
import { readValueMatch, resolveValueMatch, valueMatchSchema } from "../parts/value-match.ts";

/** Conditions of an entry of a model: headers that choose it, and rules of who may use it. */
export interface ModelConditions {
  /** Alternative sets of headers; empty for every request. */
  readonly matches: readonly (readonly ValueMatchConfig[])[];
  /** Empty if everybody may use it. */
  readonly rules: readonly RuleConfig[];
  readonly origin: Origin;
}

/** The same, compiled. */
export interface ModelConditionsNode {
  readonly matches: readonly (readonly ValueMatch[])[];
  readonly rules: readonly Rule[];
  /** Places of the fields. */
  readonly matchesAt: { readonly origin: Origin };
  readonly rulesAt: { readonly origin: Origin };
}

/** Schema of `matches` of a model. */
export const modelMatchesSchema = list(
  object(
    {
      headers: list(valueMatchSchema, {
        minItems: 1,
        maxItems: 16,
        description: "Conditions on headers; all must match.",
      }),
    },
    {
      required: ["headers"],
      misplacedFieldHints: {
        path: "clients name the model in the request, not in its path",
        model: "write it in `name` of the model",
      },
    },
  ),
  {
    minItems: 1,
    maxItems: 16,
    description:
      "Alternative conditions on headers. Of the entries with the same name, the first one that matches serves a request; without any, a more general name does.",
    examples: [[{ headers: [{ name: "x-team", value: { exact: "research" } }] }]],
  },
);

/** Schema of `authorization` of a model. */
export const modelAuthorizationSchema = object(
  { rules: rulesSchema },
  {
    required: ["rules"],
    description:
      "Rules of who may use this model, in addition to the rules of the route. Of several matching entries with the same name, the first one whose rules allow a request serves it; if none do, it gets a 403. The list of models contains only those that the caller may use.",
    examples: [{ rules: ['jwt.team == "research"'] }],
  },
);

/** Reads the conditions of a model; `undefined` without any. */
export function readModelConditions(
  {
    matches = [],
    authorization,
  }: {
    readonly matches?: Infer<typeof modelMatchesSchema>;
    readonly authorization?: Infer<typeof modelAuthorizationSchema>;
  },
  origin: Origin,
): ModelConditions | undefined {
  if (matches.length === 0 && authorization === undefined) return undefined;
  return {
    matches: matches.map(({ headers }, index) =>
      headers.map((header, at) =>
        readValueMatch(
          { ...header, name: header.name.toLowerCase() },
          childOf(origin, "matches", index, "headers", at),
        ),
      ),
    ),
    rules: authorization ? lowerRules(authorization.rules, childOf(origin, "authorization")) : [],
    origin,
  };
}

/** Compiles the conditions of a model; returns `undefined` if a mistake was reported. */
export function resolveModelConditions(
  { matches, rules, origin }: ModelConditions,
  context: IdentityContext,
): ModelConditionsNode | undefined {
  const found = matches.map((headers) =>
    headers.flatMap((each) => resolveValueMatch(each, "header", context.diagnostics) ?? []),
  );
  const isComplete = found.every((headers, index) => headers.length === matches[index]?.length);
  const resolved = resolveRules(rules, "request", context);
  if (!isComplete || resolved === undefined) return undefined;
  return {
    matches: found,
    rules: resolved,
    matchesAt: { origin: childOf(origin, "matches") },
    rulesAt: { origin: childOf(origin, "authorization") },
  };
}

/** Returns a key that is equal for entries with equal conditions. */
export function conditionsKey(conditions: ModelConditions | undefined): string {
  return JSON.stringify(conditions ?? null, (key, value: unknown) =>
    key === "origin" ? undefined : value,
  );
}

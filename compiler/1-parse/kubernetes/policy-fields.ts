import { policies } from "../../policies/index.ts";
import { orConditional } from "../../policies/parts/conditional-field.ts";
import { type Fields, object, type Schema } from "../../schema/schema.ts";

/** Returns the fields of a GatewayPolicy section that policies define: `cors` of `traffic`. */
export function policyFields(section: string): Fields {
  const found = policies.flatMap(({ kubernetes, summary }) =>
    kubernetes?.field.startsWith(`${section}.`) === true ? [{ ...kubernetes, summary }] : [],
  );
  const byField = Map.groupBy(found, ({ field }) => field.slice(section.length + 1));
  return Object.fromEntries(
    Array.from(byField, ([name, forms]): readonly [string, Schema] => {
      const parts = forms.flatMap(({ part, schema, summary }) =>
        part === undefined ? [] : [[part, summarised(schema, [summary])] as const],
      );
      const whole = forms.find(({ part }) => part === undefined);
      const one = whole?.schema ?? partsSchema(Object.fromEntries(parts));
      const isConditional = forms.every(({ ofConditions }) => ofConditions !== undefined);
      const schema = isConditional ? orConditional(one) : one;
      return [
        name,
        summarised(schema, whole ? [whole.summary] : forms.map(({ summary }) => summary)),
      ];
    }),
  );
}

/** Returns the field of the backend section that a policy for messages of one backend defines. */
export function policyOnBackend(name: string): Schema {
  const found = policies.find(({ onBackend }) => onBackend?.field === name);
  if (found?.kubernetes === undefined) throw new Error(`no policy reads backend.${name}`);
  const schema = found.onBackend?.kubernetesSchema ?? found.kubernetes.schema;
  return summarised(schema, [found.summary]);
}

/** Returns the filters of an HTTPRoute rule that policies define, by field. */
export function policyFilters(): Fields {
  return Object.fromEntries(
    policies.flatMap(({ kubernetes, summary }) =>
      kubernetes?.filter === undefined
        ? []
        : [
            [
              kubernetes.filter,
              summarised(kubernetes.filterSchema ?? kubernetes.schema, [summary]),
            ],
          ],
    ),
  );
}

/** Returns the fields of a rule that policies define. */
export function policyRuleFields(route: "HTTPRoute" | "GRPCRoute"): Fields {
  return Object.fromEntries(
    policies.flatMap(({ kubernetes, summary }) =>
      kubernetes?.ruleField === undefined ||
      kubernetes.ruleSchema === undefined ||
      (route === "GRPCRoute" && kubernetes.isOfGrpc !== true)
        ? []
        : [[kubernetes.ruleField, summarised(kubernetes.ruleSchema, [summary])]],
    ),
  );
}

/** Describes a field by the summaries of its policies, unless it has its own description. */
function summarised(schema: Schema, summaries: readonly string[]): Schema {
  const text = summaries.join("; ");
  return { description: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`, ...schema };
}

function partsSchema(parts: Fields): Schema {
  return object(parts, { atLeastOneOf: Object.keys(parts) });
}

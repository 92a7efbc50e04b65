import { policies } from "../../policies/index.ts";
import { type Fields, object, type Schema } from "../../schema/schema.ts";

/** The fields of a GatewayPolicy's section that policies read, as they describe them: `cors` of `traffic`. */
export function policyFields(section: string): Fields {
  const found = policies.flatMap(({ kubernetes }) =>
    kubernetes?.field.startsWith(`${section}.`) === true ? [kubernetes] : [],
  );
  const byField = Map.groupBy(found, ({ field }) => field.slice(section.length + 1));
  return Object.fromEntries(
    Array.from(byField, ([name, forms]): readonly [string, Schema] => {
      const parts = forms.flatMap(({ part, schema }) =>
        part === undefined ? [] : [[part, schema]],
      );
      const whole = forms.find(({ part }) => part === undefined);
      return [name, whole?.schema ?? partsSchema(Object.fromEntries(parts))];
    }),
  );
}

/** The filters of an HTTPRoute's rule that policies read, by their field. */
export function policyFilters(): Fields {
  return Object.fromEntries(
    policies.flatMap(({ kubernetes }) =>
      kubernetes?.filter === undefined ? [] : [[kubernetes.filter, kubernetes.schema]],
    ),
  );
}

/** The fields of an HTTPRoute's rule that policies read. */
export function policyRuleFields(): Fields {
  return Object.fromEntries(
    policies.flatMap(({ kubernetes }) =>
      kubernetes?.ruleField === undefined || kubernetes.ruleSchema === undefined
        ? []
        : [[kubernetes.ruleField, kubernetes.ruleSchema]],
    ),
  );
}

function partsSchema(parts: Fields): Schema {
  return object(parts, { atLeastOneOf: Object.keys(parts) });
}

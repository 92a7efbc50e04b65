import type { PolicySettings } from "../../../compiler/ir/policies.ts";
import type { Code, Printable } from "../../code/hole.ts";
import { name } from "../../code/names.ts";
import { readsBody } from "../../code/reads.ts";
import { valueFunction } from "../../code/value-function.ts";
import type { RouteScope } from "../policy.ts";

/** Where a credential stands, as the runtime takes it, and the function that finds it where an expression does. */
export interface LocationCode {
  readonly readsRequestBody: boolean;
  readonly value: Printable;
  readonly declarations: readonly Code[];
}

/** The place of a policy's credential; `label` names the function of an expression. */
export function locationCode(
  location: PolicySettings["apiKey"]["location"],
  label: string,
  { expressions, variables }: RouteScope,
): LocationCode {
  if (!("expression" in location)) {
    return { value: { ...location }, declarations: [], readsRequestBody: false };
  }
  const { expression } = location;
  const { declaration } = valueFunction(label, expression, expressions, variables);
  return {
    value: { expression: name(label) },
    declarations: [declaration],
    readsRequestBody: readsBody([expression], "request"),
  };
}

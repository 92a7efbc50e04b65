import type { PolicySettings } from "../../../compiler/ir/policies.ts";
import type { Code, Printable } from "../../code/hole.ts";
import { name } from "../../code/names.ts";
import { readsBody } from "../../code/reads.ts";
import { valueFunction } from "../../code/value-function.ts";
import type { RouteScope } from "../policy.ts";

/** Location of a credential as the runtime expects it, and the function that finds it if it is an expression. */
export interface LocationCode {
  readonly readsRequestBody: boolean;
  readonly value: Printable;
  readonly declarations: readonly Code[];
}

/** Writes the location of a policy's credential; `label` names the function of an expression. */
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

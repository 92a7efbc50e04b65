import type { PolicySettings } from "../compiler/ir.ts";
import type { Code, Printable } from "./code.ts";
import { name } from "./code.ts";
import type { RouteScope } from "./policies/policy.ts";
import { readsBody } from "./reads.ts";
import { valueFunction } from "./value-function.ts";

/** Where a credential stands, as the runtime takes it, and the function that finds it where an expression does. */
export interface PlaceCode {
  readonly readsRequestBody: boolean;
  readonly value: Printable;
  readonly declarations: readonly Code[];
}

/** The place of a policy's credential; `label` names the function of an expression. */
export function placeCode(
  place: PolicySettings["apiKey"]["place"],
  label: string,
  { expressions, variables }: RouteScope,
): PlaceCode {
  if (!("expression" in place)) {
    return { value: { ...place }, declarations: [], readsRequestBody: false };
  }
  const { expression } = place;
  const { declaration } = valueFunction(label, expression, expressions, variables);
  return {
    value: { expression: name(label) },
    declarations: [declaration],
    readsRequestBody: readsBody([expression], "request"),
  };
}

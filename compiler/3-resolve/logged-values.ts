import { resolveExpression } from "../backends/parts/expressions.ts";
import { checkVariableFields } from "../backends/parts/known-identities.ts";
import type { GatewayResource, RouteResource } from "../config/resources.ts";
import { Diagnostics } from "../diagnostics/diagnostic.ts";
import { providedBefore } from "./provided-values.ts";
import type { RouteContext } from "./routes.ts";

/** Reports values that no policy of the gateway provides, in expressions of access lines, spans and labels of metrics. */
export function checkLoggedValues(
  { accessLogs, tracing, frontend, listeners }: GatewayResource,
  routes: readonly RouteResource[],
  context: RouteContext,
): void {
  const expressions = [
    ...accessLogs.flatMap(({ filter, add, records }) => [
      ...[filter ?? [], records?.filter ?? []].flat(),
      ...[add, records?.fields?.add ?? []].flat(),
    ]),
    ...[tracing?.filter ?? [], tracing?.add ?? [], frontend.metricLabels].flat(),
  ];
  if (expressions.length === 0) return;
  const all = [...listeners, ...routes].flatMap(({ policies }) => policies);
  const known = { identityFields: providedBefore(all, context) };
  for (const each of expressions) {
    // Mistakes were reported before.
    const found = resolveExpression(each, { phase: "log", slot: "value" }, new Diagnostics());
    checkVariableFields(each, found?.reads ?? [], known, context.diagnostics);
  }
}

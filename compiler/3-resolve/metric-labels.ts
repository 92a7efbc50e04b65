import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { MetricLabelsNode } from "../ir/metric-labels.ts";
import type { NamedExpression } from "../model/expressions.ts";
import { checkAdded, warnOfSecrets } from "./access-log.ts";
import { resolveLogged } from "./logged-expression.ts";

/** Labels that these metrics have anyway (runtime/metrics/table/requests.ts). */
const OWN_LABELS: readonly string[] = ["listener", "route", "status", "type"];

/** Resolves the labels of metrics; reports mistakes, and returns `undefined` without valid labels. */
export function resolveMetricLabels(
  given: readonly NamedExpression[],
  secretHeaders: readonly string[],
  diagnostics: Diagnostics,
): MetricLabelsNode | undefined {
  const [first] = given;
  if (first === undefined) return undefined;
  checkAdded(given, diagnostics);
  const labels = given.flatMap((label) => {
    const { name, origin } = label;
    const isOwn = OWN_LABELS.includes(name);
    if (isOwn) {
      const expected = "another name: the gateway sets this label itself";
      diagnostics.report("bad-format", keyPlace(origin), { field: `"${name}"`, expected });
    }
    const value = resolveLogged(label, { phase: "log", slot: "value" }, diagnostics);
    if (value === undefined || isOwn) return [];
    warnOfSecrets(label, value, secretHeaders, diagnostics);
    return [{ name, value }];
  });
  return labels.length === 0 ? undefined : { labels, origin: first.origin };
}

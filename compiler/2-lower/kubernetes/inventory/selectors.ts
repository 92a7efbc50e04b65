import type { LabelSelector } from "../../../manifests/manifests.ts";

/** Whether labels satisfy a selector: all of its labels and expressions (metav1.LabelSelector). */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([name, value]) => labelOf(labels, name) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) =>
      OPERATORS[operator](labelOf(labels, key), values),
    )
  );
}

type Operator = NonNullable<LabelSelector["matchExpressions"]>[number]["operator"];

const OPERATORS: Readonly<
  Record<Operator, (value: string | undefined, values: readonly string[]) => boolean>
> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

function labelOf(labels: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}

import type { LabelSelector } from "../../manifests.ts";

/** Whether labels satisfy a selector: all of its labels and expressions (metav1.LabelSelector). */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const valueOf = (name: string): string | undefined =>
    Object.hasOwn(labels, name) ? labels[name] : undefined;
  return (
    Object.entries(matchLabels).every(([name, value]) => valueOf(name) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = valueOf(key);
      switch (operator) {
        case "In":
          return value !== undefined && values.includes(value);
        case "NotIn":
          return value === undefined || !values.includes(value);
        case "Exists":
          return value !== undefined;
        case "DoesNotExist":
          return value === undefined;
      }
    })
  );
}

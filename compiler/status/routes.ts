import type { AnyRoute } from "../2-resolve/kubernetes/attach.ts";
import { CONTROLLER, type Condition, fails, holds, type Problem, within } from "./conditions.ts";

/** The status of a route: what each of its parents makes of it. */
export function routeStatus({ spec }: AnyRoute, problems: readonly Problem[]): object {
  const errors = problems.filter(({ isError }) => isError);
  const references = errors.filter(({ path }) => path.includes("backendRefs"));
  const ofParents = within(errors, "spec", "parentRefs");
  const others = errors.filter((each) => !references.includes(each) && !ofParents.includes(each));
  const resolved =
    references.length === 0
      ? holds("ResolvedRefs", "ResolvedRefs")
      : fails("ResolvedRefs", referenceReason(references), references);
  return {
    parents: (spec?.parentRefs ?? []).map((parentRef, index) => ({
      parentRef,
      controllerName: CONTROLLER,
      conditions: [acceptedBy(within(ofParents, "spec", "parentRefs", index), others), resolved],
    })),
  };
}

function acceptedBy(own: readonly Problem[], others: readonly Problem[]): Condition {
  if (own.length > 0) {
    const cause = own.find((each) => each.cause !== undefined)?.cause;
    return fails("Accepted", cause ?? "NoMatchingParent", own);
  }
  return others.length === 0
    ? holds("Accepted", "Accepted")
    : fails("Accepted", "UnsupportedValue", others);
}

function referenceReason(problems: readonly Problem[]): string {
  for (const { code } of problems) {
    if (code === "reference-not-permitted") return "RefNotPermitted";
    if (code === "wrong-reference-kind") return "InvalidKind";
    if (code === "not-built-yet") return "UnsupportedValue";
  }
  return "BackendNotFound";
}

import { backendOf } from "../backends/index.ts";
import type { UsageConfig } from "../config/usage.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { AddedField } from "../ir/access-log.ts";
import type { BindNode } from "../ir/program.ts";
import type { UsageNode } from "../ir/usage.ts";
import type { NamedExpression } from "../model/expressions.ts";
import { RESERVED_ATTRIBUTES } from "../model/usage-columns.ts";
import { checkAdded, warnOfSecrets } from "./access-log.ts";
import { resolveLogged } from "./logged-expression.ts";

/** Resolves the stored usage of models; reports mistakes, and usage of a gateway without models. */
export function resolveUsage(
  { by, days, isForCallers, origin }: UsageConfig,
  callsModels: boolean,
  secretHeaders: readonly string[],
  diagnostics: Diagnostics,
): UsageNode | undefined {
  if (!callsModels) {
    diagnostics.report("idle-usage", keyPlace(origin), {});
    return undefined;
  }
  checkAdded(by, diagnostics);
  return {
    by: by.flatMap((attribute) => resolveAttribute(attribute, secretHeaders, diagnostics) ?? []),
    ...{ days, isForCallers, origin },
  };
}

/** Whether a port has a route that calls models. */
export function servesModels({ listeners }: BindNode): boolean {
  return listeners.some(({ routes }) =>
    routes.some(({ backends }) => backends.some(({ kind }) => backendOf(kind).protocol === "llm")),
  );
}

function resolveAttribute(
  attribute: NamedExpression,
  secretHeaders: readonly string[],
  diagnostics: Diagnostics,
): AddedField | undefined {
  const { name, origin } = attribute;
  if (Object.hasOwn(RESERVED_ATTRIBUTES, name)) {
    const expected = "another name: every row of usage has this column";
    diagnostics.report("bad-format", keyPlace(origin), { field: `"${name}"`, expected });
    return undefined;
  }
  const value = resolveLogged(attribute, { phase: "log", slot: "value" }, diagnostics);
  if (value === undefined) return undefined;
  const unready = value.reads.find(([root, member]) => root === "response" || isBody(root, member));
  if (unready !== undefined || value.variables.includes("response")) {
    diagnostics.report("usage-attribute", origin, { name: unready?.join(".") ?? "response" });
    return undefined;
  }
  warnOfSecrets(attribute, value, secretHeaders, diagnostics);
  return { name, value };
}

function isBody(root: string | undefined, member: string | undefined): boolean {
  return (root === "request" && member === "body") || (root === "llm" && member === "completion");
}

import type { ItemTargets } from "../../backends/backend.ts";
import type { RuleConfig } from "../../backends/parts/rules.ts";
import { type ComparedName, comparedNames } from "../../cel/kinds/compared-names.ts";
import type { Diagnostics } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import { itemPrefix } from "../../model/item-prefix.ts";

/** Reports item names in rules that no item of the route can have: prefixed names, and misspelled targets. */
export function checkItemNames(
  rules: readonly RuleConfig[],
  targets: ItemTargets,
  diagnostics: Diagnostics,
): void {
  for (const { expression, origin } of rules) {
    for (const compared of comparedNames(expression, "mcp")) {
      const at = { ...origin, within: compared.within };
      const { path, text } = compared;
      if (path.endsWith(".target")) {
        const suggestion = nearTarget(text, targets);
        if (suggestion === undefined) continue;
        diagnostics.report("mcp-unknown-target", at, { name: text, suggestion });
      } else {
        const form = unprefixed(compared, targets);
        if (form !== undefined) diagnostics.report("mcp-prefixed-name", at, { name: text, form });
      }
    }
  }
}

/** Returns the expression to use instead of a prefixed name; `undefined` if the name has no prefix. */
function unprefixed(
  { path, text, comparison }: ComparedName,
  targets: ItemTargets,
): string | undefined {
  if (!targets.arePrefixes) return undefined;
  const kind = path.split(".").slice(0, 2).join(".");
  const separator = itemPrefix("", kind === "mcp.resource" ? "resource" : "tool");
  const end = text.indexOf(separator);
  if (end < 0) return undefined;
  const [prefix, rest] = [text.slice(0, end), text.slice(end + separator.length)];
  const target = targets.names.includes(prefix) ? prefix : nearTarget(prefix, targets);
  if (target === undefined) return undefined;
  const isTarget = `${kind}.target == ${JSON.stringify(target)}`;
  if (rest === "") return isTarget;
  const name = JSON.stringify(rest);
  const isNamed =
    comparison === "equal" ? `${kind}.name == ${name}` : `${kind}.name.startsWith(${name})`;
  return `${isTarget} && ${isNamed}`;
}

/** Minimum length of a name to compare: short names resemble each other by chance. */
const MIN_LENGTH = 4;

/** Returns the target that a name probably means; `undefined` if it is a target's exact name or resembles none. */
function nearTarget(name: string, { names }: ItemTargets): string | undefined {
  if (names.includes(name) || name.length < MIN_LENGTH) return undefined;
  const suggestion = suggest(name, names);
  const isNear = suggestion !== undefined && Math.abs(suggestion.length - name.length) <= 1;
  return isNear ? suggestion : undefined;
}

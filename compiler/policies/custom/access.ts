import type { AccessCheck, SettingsChange, SettingsComparison } from "../../model/access.ts";
import { listChanges } from "../../model/access.ts";
import type { PolicyPart } from "../policy.ts";
import { codeChanges } from "./code-changes.ts";
import type { CustomEntry, CustomNode } from "./entry.ts";

/** Hooks that can refuse a request before a backend gets it. */
const DECIDING_HOOKS = ["request", "requestBody", "toolCall", "prompt", "connect"] as const;

/** Whether a policy can refuse a request before a backend gets it: its hooks could, and its code speaks of it. */
export function mayRefuse({ hooks, sources }: Pick<CustomEntry, "hooks" | "sources">): boolean {
  return (
    DECIDING_HOOKS.some((hook) => hooks[hook] !== undefined) &&
    sources.some(({ text: code, imports }) => /\brefuse\b/.test(code) || imports.some(isPackage))
  );
}

/** Whether an import is a package, whose code is not read. */
function isPackage(specifier: string): boolean {
  return !specifier.startsWith(".") && !specifier.startsWith("node:") && specifier !== "gwc/policy";
}

/** Returns the part of a policy in decisions on requests; `undefined` if it has none. */
export function checkOf({
  name,
  hooks,
  isIdentity,
  passesOnFailure,
  sources,
}: CustomEntry): AccessCheck | undefined {
  if (DECIDING_HOOKS.every((hook) => hooks[hook] === undefined)) return undefined;
  const what = `${isIdentity ? "authenticates callers with" : "runs"} the custom policy ${name}`;
  const decidesWho = mayRefuse({ hooks, sources });
  const refusesNobody = !decidesWho;
  return { kind: "outside", what, decidesWho, refusesNobody, passesOnFailure, isIdentity };
}

/** Returns how changes of custom policies affect access. */
export function comparison(): SettingsComparison<CustomNode> {
  return {
    changes: (before, after) => [
      ...listChanges("policy", refusing(before, true), refusing(after, true), "closes"),
      ...listChanges("policy", refusing(before, false), refusing(after, false), "changes"),
      ...after.entries.flatMap((entry, index) => {
        const old = before.entries[namesOf(before).indexOf(namesOf(after)[index] ?? "")];
        return old === undefined ? [] : entryChanges(old, entry);
      }),
    ],
    rest: ({ entries }) =>
      entries.map(({ name, options, secrets, deadline }) => ({ name, options, secrets, deadline })),
  };
}

/** Returns the names of policies that may refuse requests, or of those that do not. */
function refusing(node: CustomNode, isWanted: boolean): readonly string[] {
  return namesOf(node).filter((_, index) => {
    const entry = node.entries[index];
    return entry !== undefined && mayRefuse(entry) === isWanted;
  });
}

/** Returns the policies by name, with the code of each apart from its settings. */
export function customParts(node: CustomNode): readonly PolicyPart[] {
  const names = namesOf(node);
  return node.entries.map(({ sources, ...settings }, index) => ({
    name: names[index] ?? settings.name,
    code: sources.map(({ module, text }) => [module, text]),
    settings,
  }));
}

/** Returns the names of policies; those that are used several times are numbered. */
function namesOf({ entries }: CustomNode): readonly string[] {
  return entries.map(({ name }, index) => {
    const earlier = entries.slice(0, index).filter((each) => each.name === name).length;
    return earlier === 0 ? name : `${name} (${earlier + 1})`;
  });
}

function entryChanges(before: CustomEntry, after: CustomEntry): readonly SettingsChange[] {
  const { name } = after;
  const changes: SettingsChange[] = [...codeChanges(before.sources, after.sources)];
  if (before.passesOnFailure !== after.passesOnFailure) {
    const outcome = after.passesOnFailure ? "allowed" : "refused";
    const direction = after.passesOnFailure ? "opens" : "closes";
    changes.push({ direction, text: `if ${name} fails, requests are ${outcome}` });
  }
  if (before.order !== after.order) {
    const where = after.order ?? "at the place of custom policies";
    changes.push({ direction: "changes", text: `${name} runs ${where}` });
  }
  return [...changes, ...listChanges(`allow of ${name}`, before.allow, after.allow, "opens")];
}

import type { SourceFile } from "../../diagnostics/source.ts";
import { sayTerm, termExpression, type Wording } from "../effect/words/in-words.ts";
import { placeText } from "../explain/route.ts";
import type { PolicyVerdict } from "./chain-verdicts.ts";
import type { RouteAccess } from "./item-access.ts";

/** Whether a request gets through. */
export type AccessOutcome = "yes" | "no" | "depends";

/** Returns the best outcome of several routes or servers. */
export function accessOutcome(found: readonly RouteAccess[]): AccessOutcome {
  const outcomes = found.map(({ verdicts }) => accessOutcomeOf(verdicts));
  if (outcomes.includes("yes")) return "yes";
  return outcomes.includes("depends") ? "depends" : "no";
}

/** Returns whether a request gets through all policies. */
export function accessOutcomeOf(verdicts: readonly PolicyVerdict[]): AccessOutcome {
  const all = verdicts.map(({ verdict }) => verdict);
  if (all.includes("refuses")) return "no";
  return all.includes("depends") || all.includes("undecided") ? "depends" : "yes";
}

/** Renders access for people: the outcome, then each policy in order with its verdict and location. */
export function accessText(
  outcome: AccessOutcome,
  what: string,
  found: readonly RouteAccess[],
  files: readonly SourceFile[],
): string {
  const head = { yes: `yes: ${what}`, no: `no: ${what}`, depends: `it depends: ${what}` }[outcome];
  return `${[head, ...found.map((each) => routeText(each, files))].join("\n\n")}\n`;
}

function routeText(access: RouteAccess, files: readonly SourceFile[]): string {
  const { verdicts } = access;
  const outcome = { yes: "yes", no: "no", depends: "it depends" }[accessOutcomeOf(verdicts)];
  const lines = verdicts.map((each) => verdictText(each, files));
  return [`${routeHead(access)}: ${outcome}`, ...(lines.length === 0 ? [NO_POLICY] : lines)].join(
    "\n",
  );
}

const NO_POLICY = "  no policy restricts access";

function routeHead({ route, listener, target, view }: RouteAccess): string {
  const named = view === undefined ? "" : `, view ${view}`;
  const server = target === undefined ? named : `${named}, server ${target}`;
  if (route === undefined) return `listener ${listener.name}`;
  return `route ${route.name} (listener ${listener.name})${server}`;
}

function verdictText(
  { policy, verdict, reason, origin, passes }: PolicyVerdict,
  files: readonly SourceFile[],
): string {
  const line = `  ${policy.padEnd(18)} ${VERDICTS[verdict].padEnd(10)} ${reason}`;
  const conditions = passes === undefined ? [] : wordingLines(passes);
  return [line, `  ${"".padEnd(29)} at ${placeText(origin, files)}`, ...conditions].join("\n");
}

const VERDICTS = {
  passes: "passes",
  refuses: "refuses",
  depends: "depends",
  undecided: "undecided",
  outside: "not known",
} as const;

/** Renders the conditions under which something is allowed, with `when` and `unless` lines for each alternative. */
function wordingLines({ terms, isComplete }: Wording): readonly string[] {
  const lines = terms.flatMap((term, index) => {
    const { when, unless } = sayTerm(term);
    const first = index === 0 ? "when" : "or when";
    return [
      `      ${first.padEnd(8)} ${when.length === 0 ? "anything" : when.join(", ")}`,
      ...(unless.length === 0 ? [] : [`      ${"unless".padEnd(8)} ${unless.join(", ")}`]),
    ];
  });
  return isComplete ? lines : [...lines, "      and under further conditions"];
}

/** Renders who may use something: the required credentials and the conditions, in words and as a CEL expression. */
export function whoText(
  what: string,
  found: readonly RouteAccess[],
  files: readonly SourceFile[],
): string {
  const parts = found.map((access) => whoLines(access, files).join("\n"));
  return `who may use ${what}\n\n${parts.join("\n\n")}\n`;
}

function whoLines(access: RouteAccess, files: readonly SourceFile[]): readonly string[] {
  const { verdicts } = access;
  const lines = verdicts.map((each) => verdictText(each, files));
  if (accessOutcomeOf(verdicts) === "no") return [`${routeHead(access)}: nobody`, ...lines];
  const needs = verdicts.flatMap((each) => each.needs ?? []);
  const proved = needs.length === 0 ? "" : ` with ${needs.join(" and ")}`;
  const open = verdicts.filter(({ verdict }) => verdict === "undecided");
  const others = open.length === 0 ? "" : `, unless ${namesOf(open)} refuses`;
  const conditions = verdicts.flatMap(({ passes }) =>
    passes === undefined ? [] : wordingExpression(passes),
  );
  if (conditions.length > 0)
    return [
      `${routeHead(access)}: everybody${proved}${others}${open.length === 0 ? "" : ","} for whom`,
      ...lines,
      `  as CEL: ${conditions.join(" && ")}`,
    ];
  const who = `everybody${proved}${others}`;
  return [`${routeHead(access)}: ${who}`, ...(lines.length === 0 ? [NO_POLICY] : lines)];
}

function namesOf(verdicts: readonly PolicyVerdict[]): string {
  return [...new Set(verdicts.map(({ policy }) => policy))].join(" or ");
}

/** Formats the listed alternatives as a CEL expression. */
export function wordingExpression({ terms }: Wording): string {
  const alternatives = terms.map(termExpression);
  const [first = "false"] = alternatives;
  return alternatives.length <= 1
    ? first
    : `(${alternatives.map((each) => `(${each})`).join(" || ")})`;
}

/** Formats access as JSON. */
export function accessJson(
  outcome: AccessOutcome,
  found: readonly RouteAccess[],
  files: readonly SourceFile[],
): object {
  const routes = found.map(({ route, listener, target, verdicts }) => ({
    route: route?.name,
    listener: listener.name,
    target,
    outcome: accessOutcomeOf(verdicts),
    policies: verdicts.map(({ policy, verdict, reason, origin, passes }) => ({
      policy,
      verdict,
      reason,
      at: placeText(origin, files),
      when: passes && wordingExpression(passes),
    })),
  }));
  return { outcome, routes };
}

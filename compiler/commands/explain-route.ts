import { stringify } from "yaml";
import type { Checked } from "../compile.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { checkInput } from "../inspect/check-input.ts";
import { askedUrl } from "../inspect/explain/asked-url.ts";
import { originOfLine } from "../inspect/explain/generated-line.ts";
import { reachedRoute } from "../inspect/explain/request.ts";
import {
  type ExplainedField,
  type ExplainedValue,
  explainRoute,
  type RouteExplanation,
  routeNames,
} from "../inspect/explain/route.ts";
import { reroutingPolicy } from "../inspect/routing/may-reroute.ts";
import type { ListenerNode } from "../ir/program.ts";
import { matchText } from "../model/matches.ts";
import type { Arguments, CommandContext, CommandResult } from "./command.ts";

/** `gwc explain route NAME [RULE]`: prints the effective policies of a route, their sources and what they override. */
export function explainRouteCommand(
  { positionals: [, name, rule], options }: Arguments,
  { host }: CommandContext,
): CommandResult {
  if (name === undefined)
    return usage("no route given", "`gwc explain route NAMESPACE/NAME [RULE]`");
  const checked = checkInput([options.file ?? "."], host, false);
  const found = explainRoute(checked, name, rule);
  if (found.length > 0) return result(found, options.format);
  const rules = rule === undefined ? [] : explainRoute(checked, name, undefined);
  const names = rules.length > 0 ? rules.map((each) => each.rule) : routeNames(checked);
  const wanted = rules.length > 0 ? (rule ?? "") : name;
  const near = suggest(wanted, names) ?? [...new Set(names)].slice(0, 5).join(", ");
  const what = rules.length > 0 ? `rule "${rule}" of "${name}"` : `attached route "${name}"`;
  const isThere = rules.length === 0 && names.includes(name);
  const hint = isThere
    ? "run `gwc check` to see why no Gateway serves it"
    : near && `existing: ${near}`;
  return usage(`there is no ${what} in ${options.file ?? "."}`, hint);
}

/** `gwc explain GET https://host/path`: prints the route that a request reaches and its effective policies. */
export function explainRequestCommand(
  { positionals: [method = "", target = ""], options }: Arguments,
  { host }: CommandContext,
): CommandResult {
  const checked = checkInput([options.file ?? "."], host, false);
  if (checked.programs.length === 0)
    return usage(`${options.file ?? "."} is invalid`, "run `gwc check`");
  const asked = askedUrl(target, checked);
  if (asked.kind === "problem") return usage(asked.problem, asked.hint);
  const reached = reachedRoute(checked, method, asked.url);
  if (reached.kind === "none") return { exitCode: 1, stderr: `${reached.reason}\n` };
  const found = result(explanationsOf(reached.route.origin.path, reached, checked), options.format);
  const notes = [...earlierNotes(reached), ...rerouteNote(reached.listener)];
  const head = options.format === "json" ? "" : `match: ${matchText(reached.match)}\n`;
  const stdout = `${head}${found.stdout ?? ""}`;
  return { ...found, stdout, ...(notes.length > 0 && { stderr: `${notes.join("\n")}\n` }) };
}

/** Notes a policy that runs before routing and may change which route a request reaches. */
function rerouteNote(listener: ListenerNode): readonly string[] {
  const policy = reroutingPolicy(listener);
  if (policy === undefined) return [];
  return [
    `note: ${policy.kind} of the listener ${listener.name} changes requests before routing, so another route may be chosen`,
  ];
}

/** Notes routes that precede the found one and match requests with certain headers, which are not given here. */
function earlierNotes({ earlier }: Reached): readonly string[] {
  return earlier
    .slice(0, 5)
    .map(({ route, match }) => `note: ${route.name} takes precedence for ${matchText(match)}`);
}

type Reached = Extract<ReturnType<typeof reachedRoute>, { kind: "route" }>;

/** `gwc explain out/x/routes/y.ts:30`: prints the source of a line of generated code. */
export function explainLineCommand(
  file: string,
  line: number,
  { options }: Arguments,
  { host }: CommandContext,
): CommandResult {
  const text = host.readText(file);
  if (text.kind === "problem") return usage(`"${file}" cannot be read: ${text.problem}`);
  const checked = options.file === undefined ? undefined : checkInput([options.file], host, false);
  const found = originOfLine(text.text, line, checked);
  if (found === undefined) return usage(`line ${line} of ${file} has no trace comment above it`);
  if (options.format === "json") return { exitCode: 0, stdout: `${JSON.stringify(found)}\n` };
  const at = found.at === undefined ? "" : `\n${found.at}`;
  return { exitCode: 0, stdout: `${found.trace}${at}\n` };
}

function explanationsOf(
  path: readonly (string | number)[],
  { route, listener }: Reached,
  checked: Checked,
): readonly RouteExplanation[] {
  const { resource } = route.origin;
  if (resource === undefined) return explainRoute(checked, route.id, undefined);
  const name = resource.name.slice(resource.name.indexOf(" ") + 1);
  const rule = path.at(-1);
  const all = explainRoute(checked, name, typeof rule === "number" ? String(rule) : undefined);
  const here = all.filter((each) => each.listener.startsWith(`${listener.name} of `));
  return here.length > 0 ? here : all;
}

function result(found: readonly RouteExplanation[], format: string | undefined): CommandResult {
  const stdout =
    format === "json"
      ? `${JSON.stringify(found, undefined, 2)}\n`
      : `${found.map(explanationText).join("\n\n")}\n`;
  return { exitCode: 0, stdout };
}

function explanationText(explanation: RouteExplanation): string {
  const { route, rule, listener, backend, guards, limits = [], fields } = explanation;
  const guarded = guards.map((line) => `\nguards on ${line}`).join("");
  const counted = limits.map((line) => `\nlimit ${line}`).join("");
  const target = `backend: ${backend}${guarded}${counted}`;
  const head = `${route}, rule ${rule}, on listener ${listener}\n${target}`;
  const policies = fields.length === 0 ? ["no policies"] : fields.map(fieldText);
  return [head, ...policies].join("\n\n");
}

function fieldText({ field, values, overridden, idle }: ExplainedField): string {
  const held = values.map((each) => `${sourceText(each)}\n${indented(each.value)}`);
  const lost = overridden.map((each) => `overrides ${sourceText(each)}`);
  const head = idle === undefined ? field : `${field}  (no effect here: ${idle})`;
  return [head, ...[...held, ...lost].map((part) => part.replace(/^/gm, "  "))].join("\n");
}

function sourceText({ source, level, at }: ExplainedValue): string {
  return `${source} (${LEVEL_WORDS[level] ?? level})  ${at}`;
}

/** Phrase for each level at which a policy is set. */
const LEVEL_WORDS: Readonly<Record<string, string>> = {
  gateway: "on the Gateway",
  listenerSet: "on the ListenerSet",
  listener: "on the listener",
  route: "on the route",
  attached: "by its target",
  rule: "on the rule",
  inline: "in the rule",
  backend: "on the backend",
  backendPart: "on this part of the backend",
  backendOwn: "in the backend",
  partOwn: "in the target",
};

function indented(value: unknown): string {
  return stringify(value).trimEnd().replace(/^/gm, "  ");
}

function usage(problem: string, hint?: string): CommandResult {
  const lines = [`error: ${problem}`, ...(hint ? [`hint: ${hint}`] : [])];
  return { exitCode: 2, stderr: `${lines.join("\n")}\n` };
}

import { Expressions } from "../../templates/code/expression.ts";
import { type Expression, type Hole, isHole } from "../../templates/code/hole.ts";
import { printText } from "../../templates/code/print.ts";
import { canonicalText } from "../cel/parse/canonical-text.ts";
import { parseExpression } from "../cel/parse/parse.ts";
import { Problems } from "../cel/parse/problems.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { Rule } from "../model/rules.ts";

/** Returns settings without parts that do not affect behavior: places, and the layout of expressions. */
function comparable(settings: unknown): unknown {
  if (isHole(settings)) return holeText(settings);
  if (Array.isArray(settings)) return settings.map(comparable);
  if (typeof settings !== "object" || settings === null) return settings;
  if (isCompiled(settings)) return codeText(settings.code);
  if (isRule(settings)) return [settings.action, canonicalRule(settings.text)];
  const fields = Object.entries(settings).filter(([name]) => !/origin$/i.test(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, comparable(value)]));
}

/** Returns the text of generated code in settings; that of an expression includes its constants. */
export function holeText(hole: Exclude<Hole, readonly Hole[]>): string {
  return isExpression(hole) ? codeText(hole) : printText(hole);
}

function isCompiled(settings: object): settings is CompiledExpression {
  return "code" in settings && "source" in settings && "variables" in settings;
}

function isRule(settings: object): settings is Rule {
  return "cases" in settings && "action" in settings && "text" in settings;
}

/** Cache of canonical rules: rules of both sides are compared for each table that leads to them. */
const canonical = new Map<string, string>();

/** Returns a rule in canonical form; its compiled code follows from that. */
function canonicalRule(text: string): string {
  const known = canonical.get(text);
  if (known !== undefined) return known;
  const root = parseExpression(text, new Problems());
  if (root === undefined) throw new Error(`a compiled rule is not a valid expression: ${text}`);
  const found = canonicalText(root);
  canonical.set(text, found);
  return found;
}

/** Fields that only affect the layout of code. */
const LAYOUT: ReadonlySet<string> = new Set([
  ...["comment", "group", "break", "indented", "broken-only", "filled"],
]);

function isExpression(hole: Exclude<Hole, readonly Hole[]>): hole is Expression {
  return !LAYOUT.has(hole.kind);
}

/** Returns the code of an expression, with the constants of its module. */
function codeText(expression: Expression): string {
  const expressions = new Expressions();
  const result = printText(expressions.use(expression));
  const constants = expressions.constants.map(
    ({ name, initializer }) => `${name.text} = ${printText(initializer)}`,
  );
  return [...constants, result].join("; ");
}

/** Returns the same key for settings with the same behavior. */
export function settingsKey(settings: unknown): string {
  return JSON.stringify(comparable(settings));
}

/** Names of fields whose values must not appear in a review. */
const SECRET = /secret|token|password|authorization|credential|cookie|key/i;

/** Maximum number of changes that are listed; more are counted. */
const MAX_CHANGES = 4;

/** Lists the changed fields among the given ones: `request 10000 -> 30000`. */
export function changedFields(
  old: FlatFields,
  now: FlatFields,
  isMeant: (path: string) => boolean,
): readonly string[] {
  const changed = [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const [from, to] = [old.get(path), now.get(path)];
    if (from === to || !isMeant(path)) return [];
    const isShown = !SECRET.test(path) && [from, to].every((each) => (each ?? "").length < 80);
    return isShown ? `${path} ${from ?? "none"} -> ${to ?? "none"}` : `${path} changed`;
  });
  const rest = changed.length - MAX_CHANGES;
  return rest > 0 ? [...changed.slice(0, MAX_CHANGES), `${rest} more fields`] : changed;
}

/** Scalars of settings as strings, by their paths. */
export type FlatFields = ReadonlyMap<string, string>;

/** Collects the scalars of settings that affect behavior. */
export function flatFields(settings: unknown): FlatFields {
  const fields = new Map<string, string>();
  addFlat(comparable(settings), "", fields);
  return fields;
}

function addFlat(value: unknown, path: string, fields: Map<string, string>): void {
  if (typeof value !== "object" || value === null) {
    if (value !== undefined) fields.set(path, String(value));
    return;
  }
  for (const [name, each] of Object.entries(value))
    addFlat(each, path === "" ? name : `${path}.${name}`, fields);
}

import { Expressions } from "../../templates/code/expression.ts";
import { type Expression, type Hole, isHole } from "../../templates/code/hole.ts";
import { printText } from "../../templates/code/print.ts";
import { canonicalText } from "../cel/parse/canonical-text.ts";
import { parseExpression } from "../cel/parse/parse.ts";
import { Problems } from "../cel/parse/problems.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { Rule } from "../model/rules.ts";

/** Settings of a program without what does not matter to what it does: places, and how expressions are laid out. */
export function comparable(settings: unknown): unknown {
  if (isHole(settings)) return isExpression(settings) ? codeText(settings) : printText(settings);
  if (Array.isArray(settings)) return settings.map(comparable);
  if (typeof settings !== "object" || settings === null) return settings;
  if (isCompiled(settings)) return codeText(settings.code);
  if (isRule(settings)) return [settings.action, canonicalRule(settings.text)];
  const fields = Object.entries(settings).filter(([name]) => !/origin$/i.test(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, comparable(value)]));
}

function isCompiled(settings: object): settings is CompiledExpression {
  return "code" in settings && "source" in settings && "variables" in settings;
}

function isRule(settings: object): settings is Rule {
  return "cases" in settings && "action" in settings && "text" in settings;
}

/** Rules are asked about again and again: those of both sides, and for each table that leads to them. */
const canonical = new Map<string, string>();

/** A rule without its layout: what is compiled follows from it. */
function canonicalRule(text: string): string {
  const known = canonical.get(text);
  if (known !== undefined) return known;
  const root = parseExpression(text, new Problems());
  if (root === undefined) throw new Error(`a rule that was compiled is no expression: ${text}`);
  const found = canonicalText(root);
  canonical.set(text, found);
  return found;
}

/** What only says how code is laid out. */
const LAYOUT: ReadonlySet<string> = new Set([
  ...["comment", "group", "break", "indented", "broken-only", "filled"],
]);

function isExpression(hole: Exclude<Hole, readonly Hole[]>): hole is Expression {
  return !LAYOUT.has(hole.kind);
}

/** What an expression becomes, with the constants of the module that it reads. */
function codeText(expression: Expression): string {
  const expressions = new Expressions();
  const result = printText(expressions.use(expression));
  const constants = expressions.constants.map(
    ({ name, initializer }) => `${name.text} = ${printText(initializer)}`,
  );
  return [...constants, result].join("; ");
}

/** The same text for settings that do the same. */
export function settingsKey(settings: unknown): string {
  return JSON.stringify(comparable(settings));
}

/** Fields whose values are nobody's to read in a review. */
const SECRET = /secret|token|password|authorization|credential|cookie|key/i;

/** More changes than this are counted. */
const MAX_CHANGES = 4;

/** Which fields are different, of those that are meant: `request 10000 -> 30000`. */
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

/** Scalars of settings, as text, by their paths. */
export type FlatFields = ReadonlyMap<string, string>;

/** Each scalar of settings that matters to what they do. */
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

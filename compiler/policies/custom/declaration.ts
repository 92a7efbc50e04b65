import type { ts } from "ts-morph";
import type { Json } from "../../model/json.ts";
import { optionMistake } from "./declared-options.ts";
import type { TypeScript } from "./typescript.ts";

/** Hooks of a policy, in the order in which they run. */
export const HOOKS = [
  "request",
  "requestBody",
  "toolCall",
  "toolResult",
  "toolList",
  "prompt",
  "completion",
  "responseBody",
  "responseStream",
  "response",
  "connect",
] as const;

/** Hooks for the head of a response, which is sent at once. */
const SYNCHRONOUS: ReadonlySet<string> = new Set(["response", "responseStream"]);

/** The name of a hook. */
export type HookKind = (typeof HOOKS)[number];

/** Declaration in the default export of a policy's module, which is read and never run. */
export interface PolicyDeclaration {
  /** First sentences of its doc comment; empty without one. */
  readonly summary: string;
  /** The declared options, as written; `{}` without any. */
  readonly options: Json;
  /** Types of provided values, as written; `{}` without any. */
  readonly provides: Json;
  /** Whether its `request` hook authenticates callers. */
  readonly isIdentity: boolean;
  /** Its hooks, and whether each is declared `async`. */
  readonly hooks: Readonly<Partial<Record<HookKind, { readonly isAsync: boolean }>>>;
}

/** A mistake in a module, with its range of characters. */
export interface ModuleMistake {
  readonly message: string;
  /** The remedy; absent if the message says it. */
  readonly hint?: string | undefined;
  readonly range: readonly [start: number, end: number];
}

/** Reads the declaration of a policy. */
export function declarationOf(
  source: ts.SourceFile,
  typescript: TypeScript,
): PolicyDeclaration | ModuleMistake {
  const statement = defaultExport(source, typescript);
  if (statement === undefined)
    return mistake("the module has no default export: export default definePolicy({ ... })");
  const argument = policyObject(source, typescript);
  if (argument === undefined)
    return mistake(
      "the default export must be definePolicy({ ... }) with the policy itself",
      statement.expression,
      source,
    );
  let [options, provides]: Json[] = [{}, {}];
  let isIdentity = false;
  const hooks: Partial<Record<HookKind, { isAsync: boolean }>> = {};
  for (const property of argument.properties) {
    const name = property.name && propertyText(property.name, typescript);
    if (name === "options" || name === "provides" || name === "identity") {
      const value = typescript.isPropertyAssignment(property)
        ? literalValue(property.initializer, typescript)
        : undefined;
      if (value === undefined)
        return mistake(
          `"${name}" must be a literal: it is read without running the module`,
          property,
          source,
        );
      const wrong = wrongMember(name, value);
      if (wrong !== undefined) return mistake(wrong, property, source);
      if (name === "options") options = value;
      else if (name === "provides") provides = value;
      else isIdentity = value === true;
      continue;
    }
    const hook = HOOKS.find((each) => each === name);
    if (hook === undefined)
      return mistake(
        `a policy has no "${name ?? property.getText(source)}"; its hooks are ${HOOKS.join(", ")}`,
        property,
        source,
      );
    hooks[hook] = { isAsync: isAsync(property, typescript) };
    if (hooks[hook].isAsync && SYNCHRONOUS.has(hook))
      return mistake(
        `the hook "${hook}" cannot be async: the response does not wait for it`,
        property,
        source,
      );
  }
  if (Object.keys(hooks).length === 0)
    return mistake(`the policy has no hook: ${HOOKS.join(", ")}`, argument, source);
  if (isIdentity && (hooks.request === undefined || Object.keys(provides ?? {}).length === 0))
    return mistake(
      'a policy with "identity" needs "provides" and a "request" hook: they say who the caller is',
      argument,
      source,
    );
  return {
    summary: summaryOf(statement, typescript),
    isIdentity,
    options: options ?? {},
    provides: provides ?? {},
    hooks,
  };
}

function defaultExport(
  source: ts.SourceFile,
  typescript: TypeScript,
): ts.ExportAssignment | undefined {
  return source.statements.find(
    (each): each is ts.ExportAssignment =>
      typescript.isExportAssignment(each) && !each.isExportEquals,
  );
}

/** Returns the object that a module passes to `definePolicy` in its default export; `undefined` if it has none. */
export function policyObject(
  source: ts.SourceFile,
  typescript: TypeScript,
): ts.ObjectLiteralExpression | undefined {
  const call = defaultExport(source, typescript)?.expression;
  if (call === undefined || !typescript.isCallExpression(call)) return undefined;
  const [argument] = call.arguments;
  const isDefined = call.expression.getText(source) === "definePolicy";
  return isDefined && argument !== undefined && typescript.isObjectLiteralExpression(argument)
    ? argument
    : undefined;
}

/** Returns the mistake in declared options or values; `undefined` if there is none. */
function wrongMember(member: "options" | "provides" | "identity", value: Json): string | undefined {
  for (const [name, declared] of Object.entries(value ?? {})) {
    const wrong =
      member === "options"
        ? optionMistake(name, declared)
        : /^[A-Za-z_]\w*$/.test(name)
          ? undefined
          : `"${name}" is not a name of a value: expressions read it as custom.NAME`;
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function mistake(message: string, node?: ts.Node, source?: ts.SourceFile): ModuleMistake {
  return { message, range: node === undefined ? [0, 0] : [node.getStart(source), node.getEnd()] };
}

/** Whether a hook is declared async: only then does the generated code wait for it. */
export function isAsync(property: ts.ObjectLiteralElementLike, typescript: TypeScript): boolean {
  const made = typescript.isPropertyAssignment(property) ? property.initializer : property;
  const modifiers = typescript.canHaveModifiers(made) ? (typescript.getModifiers(made) ?? []) : [];
  return modifiers.some(({ kind }) => kind === typescript.SyntaxKind.AsyncKeyword);
}

function summaryOf(statement: ts.ExportAssignment, typescript: TypeScript): string {
  const [comment] = typescript.getJSDocCommentsAndTags(statement);
  if (comment === undefined || !typescript.isJSDoc(comment)) return "";
  return (typescript.getTextOfJSDocComment(comment.comment) ?? "").replace(/\s+/g, " ").trim();
}

/** Returns the value of a literal expression as JSON; `undefined` if it is not a literal. */
function literalValue(node: ts.Expression, typescript: TypeScript): Json | undefined {
  const { SyntaxKind } = typescript;
  if (typescript.isStringLiteralLike(node)) return node.text;
  if (typescript.isNumericLiteral(node)) return Number(node.text);
  if (node.kind === SyntaxKind.TrueKeyword) return true;
  if (node.kind === SyntaxKind.FalseKeyword) return false;
  if (typescript.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.MinusToken) {
    const value = literalValue(node.operand, typescript);
    return typeof value === "number" ? -value : undefined;
  }
  if (typescript.isAsExpression(node) || typescript.isParenthesizedExpression(node))
    return literalValue(node.expression, typescript);
  if (typescript.isArrayLiteralExpression(node)) {
    const items = node.elements.map((each) => literalValue(each, typescript));
    return items.every((each) => each !== undefined) ? items : undefined;
  }
  if (!typescript.isObjectLiteralExpression(node)) return undefined;
  const record: Record<string, Json> = Object.create(null);
  for (const property of node.properties) {
    const value = typescript.isPropertyAssignment(property)
      ? literalValue(property.initializer, typescript)
      : undefined;
    const name = property.name && propertyText(property.name, typescript);
    if (value === undefined || name === undefined) return undefined;
    record[name] = value;
  }
  return record;
}

/** Returns the name of a property; `undefined` if it is computed. */
function propertyText(name: ts.PropertyName, typescript: TypeScript): string | undefined {
  return typescript.isIdentifier(name) || typescript.isStringLiteralLike(name)
    ? name.text
    : undefined;
}

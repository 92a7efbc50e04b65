import { type CompletionItem, CompletionItemKind, type Range } from "vscode-languageserver";
import { checkExpression } from "../cel/check/check.ts";
import { libraries } from "../cel/functions/index.ts";
import { operators } from "../cel/functions/operators.ts";
import { MACRO_DOCS } from "../cel/macro-docs.ts";
import { parseExpression } from "../cel/parse/parse.ts";
import { Problems } from "../cel/parse/problems.ts";
import { formatType, type Type } from "../cel/types/types.ts";
import { membersOf } from "../cel/variables/environment.ts";
import { type CelPhase, phaseEnvironment } from "../cel/variables/variables.ts";
import type { ExpressionPosition } from "./cel-position.ts";
import type { SeenNames } from "./seen-names.ts";

/** Returns what can be written at an offset of an expression: variables, members, functions, or names of tools and servers. */
export function celCompletions(
  { text, offset, phase }: ExpressionPosition,
  seen: SeenNames,
  rangeBefore: (length: number) => Range,
): readonly CompletionItem[] {
  const before = text.slice(0, offset);
  const quoted = openString(before);
  if (quoted !== undefined) return stringItems(quoted, seen, rangeBefore);
  const word = /[A-Za-z_]\w*$|$/.exec(before)?.[0] ?? "";
  const rest = before.slice(0, before.length - word.length);
  const range = rangeBefore(word.length);
  if (!rest.endsWith(".")) return variableItems(phase, range);
  const receiver = receiverOf(rest.slice(0, -1));
  return receiver === "" ? [] : memberItems(receiver, phase, seen, range);
}

/** The start of a string literal that is not closed, and the expression before it. */
interface OpenString {
  readonly before: string;
  readonly written: string;
}

function openString(before: string): OpenString | undefined {
  let open: { readonly quote: string; readonly at: number } | undefined;
  for (let at = 0; at < before.length; at += 1) {
    const character = before[at] ?? "";
    if (open !== undefined && character === "\\") at += 1;
    else if (open !== undefined && character === open.quote) open = undefined;
    else if (open === undefined && /["']/.test(character)) open = { quote: character, at };
  }
  return open && { before: before.slice(0, open.at), written: before.slice(open.at + 1) };
}

/** Offers the known values of what the string is compared with. */
function stringItems(
  { before, written }: OpenString,
  seen: SeenNames,
  rangeBefore: (length: number) => Range,
): readonly CompletionItem[] {
  const compared = /([\w.]+)\s*(?:[=!]=\s*|in\s*\[[^\]]*|\.startsWith\()$/.exec(before)?.[1];
  const names = seen.valuesOf(compared ?? "");
  return names.map((name) => ({
    label: name,
    kind: CompletionItemKind.Value,
    textEdit: { range: rangeBefore(written.length), newText: name },
  }));
}

function variableItems(phase: CelPhase, range: Range): readonly CompletionItem[] {
  const { declarations } = phaseEnvironment(phase);
  const variables = membersOf(phaseEnvironment(phase), "").map((name) =>
    item(
      name,
      CompletionItemKind.Variable,
      typeOf(phase, name),
      declarations.get(name)?.doc,
      range,
    ),
  );
  const named = libraries
    .flatMap(({ functions }) => functions)
    .filter(
      (each) => !operators.includes(each) && each.overloads.some(({ isMethod }) => !isMethod),
    );
  const functions = named.map(({ name, overloads, doc }) =>
    item(name, CompletionItemKind.Function, overloads[0]?.signature ?? "", doc, range),
  );
  const macros = MACRO_DOCS.filter(({ form }) => /^(?:\w+|cel\.\w+)\(/.test(form)).map(
    ({ form, doc }) =>
      item(form.slice(0, form.indexOf("(")), CompletionItemKind.Keyword, form, doc, range),
  );
  return [...variables, ...functions, ...macros];
}

function memberItems(
  receiver: string,
  phase: CelPhase,
  seen: SeenNames,
  range: Range,
): readonly CompletionItem[] {
  const environment = phaseEnvironment(phase);
  const members = membersOf(environment, receiver);
  const known = members.map((name) => {
    const declaration = environment.declarations.get(`${receiver}.${name}`);
    const type = typeOf(phase, `${receiver}.${name}`);
    return item(name, CompletionItemKind.Field, type, declaration?.doc, range);
  });
  const claims = seen
    .membersOf(receiver)
    .filter((name) => !members.includes(name))
    .map((name) => item(name, CompletionItemKind.Field, "in a test", undefined, range));
  const type = receiverType(receiver, phase);
  // An object of the gateway has members only.
  if (type === undefined || type.kind === "object") return [...known, ...claims];
  const methods = libraries
    .flatMap(({ functions }) => functions)
    .flatMap(({ name, overloads, doc }) => {
      const fitting = overloads.find(({ isMethod, params: [own] }) => isMethod && fits(own, type));
      if (fitting === undefined || !/^\w+$/.test(name)) return [];
      return item(name, CompletionItemKind.Method, fitting.signature, doc, range);
    });
  const macros = MACRO_DOCS.flatMap(({ form, doc }) => {
    const name = /^(?:list|range|map|value)\.(\w+)\(/.exec(form)?.[1];
    if (name === undefined || !isCollection(type)) return [];
    return item(name, CompletionItemKind.Method, form, doc, range);
  });
  const unique = new Map([...methods, ...macros].map((each) => [each.label, each]));
  return [...known, ...claims, ...unique.values()];
}

function item(
  label: string,
  kind: CompletionItemKind,
  detail: string,
  doc: string | undefined,
  range: Range,
): CompletionItem {
  return {
    label,
    kind,
    detail,
    // Editors sort by label otherwise, which puts dozens of methods before the members.
    sortText: `${METHODS.has(kind) ? 1 : 0}${label}`,
    ...(doc !== undefined && { documentation: { kind: "markdown", value: doc } }),
    textEdit: { range, newText: label },
  };
}

/** Kinds that are offered after the others. */
const METHODS: ReadonlySet<CompletionItemKind> = new Set([
  CompletionItemKind.Method,
  CompletionItemKind.Function,
  CompletionItemKind.Keyword,
]);

function typeOf(phase: CelPhase, path: string): string {
  const type = phaseEnvironment(phase).declarations.get(path)?.type;
  return type === undefined || type.kind === "object" ? "object" : formatType(type);
}

/** Returns the type of an expression; `undefined` if it is not valid by itself. */
function receiverType(text: string, phase: CelPhase): Type | undefined {
  const root = parseExpression(text, new Problems());
  if (root === undefined) return undefined;
  const type = checkExpression(root, phaseEnvironment(phase), new Problems()).typeOf(root);
  return type.kind === "error" ? { kind: "dyn" } : type;
}

function isCollection({ kind }: Type): boolean {
  return kind === "list" || kind === "map" || kind === "dyn";
}

function fits(param: Type | undefined, type: Type): boolean {
  if (param === undefined) return false;
  if (type.kind === "dyn" || param.kind === "dyn" || param.kind === "param") return true;
  if (param.kind === "opaque" && type.kind === "opaque") return param.name === type.name;
  return param.kind === type.kind;
}

/** Returns the operand before a dot: names, calls and indexes from right to left. */
function receiverOf(before: string): string {
  let at = before.length;
  const closing: Readonly<Record<string, string>> = { ")": "(", "]": "[" };
  for (;;) {
    const last = before[at - 1] ?? "";
    const open = closing[last];
    if (open !== undefined) {
      let depth = 0;
      do {
        at -= 1;
        if (before[at] === last) depth += 1;
        if (before[at] === open) depth -= 1;
      } while (depth > 0 && at > 0);
    } else {
      const name = /[A-Za-z_]\w*$/.exec(before.slice(0, at));
      if (name === null) return before.slice(at);
      at = name.index;
      if (before[at - 1] !== ".") return before.slice(at);
      at -= 1;
      continue;
    }
    if (at <= 0) return before.slice(at);
  }
}

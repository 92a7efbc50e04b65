import type { Hover, SignatureHelp } from "vscode-languageserver";
import { checkExpression } from "../cel/check/check.ts";
import type { FunctionDeclaration } from "../cel/functions/declaration.ts";
import { functionNamed, libraries } from "../cel/functions/index.ts";
import { MACRO_DOCS } from "../cel/macro-docs.ts";
import { childrenOf, type Node } from "../cel/parse/ast.ts";
import { parseExpression } from "../cel/parse/parse.ts";
import { Problems } from "../cel/parse/problems.ts";
import { formatType } from "../cel/types/types.ts";
import { phaseEnvironment } from "../cel/variables/variables.ts";
import type { ExpressionPosition } from "./cel-position.ts";

/** Returns the documentation of the variable, function or macro at an offset of an expression, and the type there. */
export function celHover({ text, offset, phase }: ExpressionPosition): Hover | undefined {
  const environment = phaseEnvironment(phase);
  const word = wordAt(text, offset);
  if (word === undefined) return undefined;
  const declared = environment.declarations.get(word.path);
  if (declared !== undefined)
    return markdown(`${word.path}: ${formatType(declared.type)}`, declared.doc);
  const called = functionOf(word.path);
  if (called !== undefined && word.isCalled) {
    const forms = called.overloads.map(({ signature }) => signature).join("\n");
    return markdown(forms, `${called.doc}\n\n${exampleText(called.example)}`);
  }
  const macro = MACRO_DOCS.find(({ form }) => macroName(form) === word.path.split(".").at(-1));
  if (macro !== undefined && word.isCalled)
    return markdown(macro.form, `${macro.doc}\n\n${exampleText(macro.example)}`);
  const type = typeAt(text, offset, environment);
  return type === undefined ? undefined : markdown(`${word.path}: ${type}`, "");
}

/** Returns the overloads of the function whose arguments contain an offset of an expression. */
export function celSignatures({ text, offset }: ExpressionPosition): SignatureHelp | undefined {
  const call = callAround(text.slice(0, offset));
  if (call === undefined) return undefined;
  const declaration = functionOf(call.name);
  const macros = MACRO_DOCS.filter(({ form }) => macroName(form) === call.name.split(".").at(-1));
  const forms =
    declaration === undefined
      ? macros.map(({ form, doc }) => ({ form, doc }))
      : declaration.overloads.map(({ signature }) => ({ form: signature, doc: declaration.doc }));
  if (forms.length === 0) return undefined;
  const enough = forms.findIndex(({ form }) => parametersOf(form).length > call.argument);
  return {
    signatures: forms.map(({ form, doc }) => ({
      label: form,
      documentation: { kind: "markdown", value: doc },
      parameters: parametersOf(form).map((label) => ({ label })),
    })),
    activeSignature: Math.max(0, enough),
    activeParameter: call.argument,
  };
}

/** Finds a function by its name with its namespace, or a method by its last name. */
function functionOf(name: string): FunctionDeclaration | undefined {
  const last = name.split(".").at(-1) ?? "";
  const method = libraries
    .flatMap(({ functions }) => functions)
    .find((each) => each.name === last && each.overloads.some(({ isMethod }) => isMethod));
  return functionNamed(name) ?? method ?? functionNamed(last);
}

function macroName(form: string): string | undefined {
  return /([A-Za-z_]+)\(/.exec(form)?.[1];
}

function parametersOf(form: string): readonly string[] {
  const inside = /\(([^)]*(?:\([^)]*\)[^)]*)*)\)(?::|$)/.exec(form)?.[1] ?? "";
  return inside === "" ? [] : inside.split(/, (?![^(]*\))/);
}

/** The call whose parentheses are open at the end of a text, and the index of the argument there. */
function callAround(
  before: string,
): { readonly name: string; readonly argument: number } | undefined {
  let [depth, argument] = [0, 0];
  for (let at = before.length - 1; at >= 0; at -= 1) {
    const character = before[at] ?? "";
    if (/["']/.test(character)) at = before.lastIndexOf(character, at - 1);
    if (at < 0) return undefined;
    if (/[)\]}]/.test(character)) depth += 1;
    if (character === "," && depth === 0) argument += 1;
    if (/[([{]/.test(character)) {
      if (depth === 0 && character === "(") {
        const name = /[A-Za-z_][\w.]*$/.exec(before.slice(0, at))?.[0];
        return name === undefined ? undefined : { name, argument };
      }
      depth -= 1;
    }
  }
  return undefined;
}

/** The dotted name around an offset, up to the end of the word there. */
function wordAt(text: string, offset: number) {
  const before = /[A-Za-z_][\w.]*$|$/.exec(text.slice(0, offset))?.[0] ?? "";
  const after = /^\w*/.exec(text.slice(offset))?.[0] ?? "";
  const path = `${before}${after}`;
  if (path === "" || /^\.|\.$/.test(path)) return undefined;
  return { path, isCalled: text[offset + after.length] === "(" };
}

function typeAt(
  text: string,
  offset: number,
  environment: ReturnType<typeof phaseEnvironment>,
): string | undefined {
  const root = parseExpression(text, new Problems());
  if (root === undefined) return undefined;
  const checked = checkExpression(root, environment, new Problems());
  const type = checked.typeOf(smallest(root, offset));
  return type.kind === "error" ? undefined : formatType(type);
}

function smallest(node: Node, offset: number): Node {
  const inner = childrenOf(node).find(({ span: [start, end] }) => start <= offset && offset <= end);
  return inner === undefined ? node : smallest(inner, offset);
}

function exampleText([expression, value]: readonly [string, string]): string {
  return `\`${expression}\` → \`${value}\``;
}

function markdown(code: string, text: string): Hover {
  return {
    contents: { kind: "markdown", value: `\`\`\`cel\n${code}\n\`\`\`\n\n${text}`.trimEnd() },
  };
}

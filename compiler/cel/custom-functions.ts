import { functionNamed } from "./functions/index.ts";
import { type CallNode, childrenOf, type Node, type Span } from "./parse/ast.ts";
import { macroNames } from "./parse/macros.ts";
import { MAX_LENGTH, parseExpression } from "./parse/parse.ts";
import { type CelProblem, Problems } from "./parse/problems.ts";

/** A function that a configuration defines: an expression with parameters. */
export interface CustomFunction {
  readonly name: string;
  /** Name of each parameter; `this` is the first one of a method. */
  readonly parameters: readonly string[];
  readonly isMethod: boolean;
  /** Name of the list of further arguments; `undefined` if the function takes no others. */
  readonly rest: string | undefined;
  /** The expression of its body, and where it starts in the definitions. */
  readonly body: string;
  readonly bodyStart: number;
  /** Place of its name in the definitions. */
  readonly nameSpan: Span;
}

/** Custom functions by name. */
export type CustomFunctions = ReadonlyMap<string, CustomFunction>;

/** A mistake in a definition or a call; `within` is its place in the definitions or the expression. */
export interface FunctionProblem {
  readonly problem: string;
  readonly within: Span;
}

/** Definitions as read; those with mistakes are left out. */
export interface ReadFunctions {
  readonly functions: CustomFunctions;
  readonly problems: readonly FunctionProblem[];
  /** Mistakes in the bodies. */
  readonly expressionProblems: readonly CelProblem[];
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** White space and comments between definitions. */
const GAP = /^(?:\s|#[^\n]*|\/\/[^\n]*)*/;
const HEAD = /^(this\s*\.\s*)?([^\s(){}]*)\s*\(([^(){}]*)\)\s*\{/;
const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{}]/gs;

/** Reads definitions such as `isInternal() { request.headers["x-env"] == "internal" }`. */
export function readCustomFunctions(text: string): ReadFunctions {
  const functions = new Map<string, CustomFunction>();
  const problems: FunctionProblem[] = [];
  const expressionProblems: CelProblem[] = [];
  let at = 0;
  for (;;) {
    at += GAP.exec(text.slice(at))?.[0].length ?? 0;
    if (at >= text.length) break;
    const head = HEAD.exec(text.slice(at));
    if (head === null) {
      const end = text.indexOf("\n", at);
      const within: Span = [at, end < 0 ? text.length : end];
      problems.push({ problem: "a definition is `name(a, b) { EXPRESSION }`", within });
      break;
    }
    const bodyStart = at + head[0].length;
    const bodyEnd = closingBrace(text, bodyStart);
    if (bodyEnd === undefined) {
      problems.push({ problem: "its `}` is missing", within: [at, bodyStart] });
      break;
    }
    const found = definitionOf(head, at, { body: text.slice(bodyStart, bodyEnd), bodyStart });
    const problem = problemOf(found, functions);
    if (problem !== undefined) problems.push({ problem, within: found.nameSpan });
    else {
      const mistakes = new Problems();
      if (parseExpression(found.body, mistakes) !== undefined) functions.set(found.name, found);
      for (const each of mistakes.list) {
        const [from, to] = each.within;
        expressionProblems.push({ ...each, within: [from + bodyStart, to + bodyStart] });
      }
    }
    at = bodyEnd + 1;
  }
  for (const each of functions.values()) {
    if (!isRecursive(each, functions)) continue;
    problems.push({ problem: `${each.name} calls itself`, within: each.nameSpan });
    functions.delete(each.name);
  }
  return { functions, problems, expressionProblems };
}

function definitionOf(
  [, method, name = "", list = ""]: RegExpExecArray,
  at: number,
  body: Pick<CustomFunction, "body" | "bodyStart">,
): CustomFunction {
  const given = list.trim() === "" ? [] : list.split(",").map((each) => each.trim());
  const last = given.at(-1);
  const rest = last?.endsWith("...") === true ? last.slice(0, -3).trim() : undefined;
  const named = rest === undefined ? given : given.slice(0, -1);
  const start = at + (method?.length ?? 0);
  return {
    name,
    isMethod: method !== undefined,
    parameters: method === undefined ? named : ["this", ...named],
    rest,
    ...body,
    nameSpan: [start, start + name.length],
  };
}

/** Returns what is wrong with the head of a definition. */
function problemOf(
  { name, parameters, isMethod, rest }: CustomFunction,
  known: CustomFunctions,
): string | undefined {
  const written = [
    ...(isMethod ? parameters.slice(1) : parameters),
    ...(rest === undefined ? [] : [rest]),
  ];
  const wrong = [name, ...written].find((each) => !IDENTIFIER.test(each) || each === "this");
  if (wrong !== undefined) return `"${wrong}" cannot be a name: use letters, digits and "_"`;
  if (new Set(written).size < written.length) return `two parameters of ${name} have one name`;
  if (known.has(name)) return `${name} is defined twice`;
  if (functionNamed(name) !== undefined || macroNames.includes(name))
    return `${name} is a function of CEL`;
  return undefined;
}

/** Returns the offset of the brace that closes a body; `undefined` if there is none. */
function closingBrace(text: string, from: number): number | undefined {
  TOKEN.lastIndex = from;
  let depth = 1;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    if (token[0] === "{") depth += 1;
    if (token[0] === "}") depth -= 1;
    if (depth === 0) return token.index;
  }
  return undefined;
}

function isRecursive({ name, body }: CustomFunction, functions: CustomFunctions): boolean {
  const seen = new Set<string>();
  const calls = (text: string): boolean => {
    const root = parseExpression(text, new Problems());
    return (
      root !== undefined &&
      calledNames(root).some((each) => {
        if (each === name) return true;
        const called = functions.get(each);
        if (called === undefined || seen.has(each)) return false;
        seen.add(each);
        return calls(called.body);
      })
    );
  };
  return calls(body);
}

/** Returns the functions that neither expressions, which called `called`, nor other functions call. */
export function uncalledFunctions(
  functions: CustomFunctions,
  called: ReadonlySet<string>,
): readonly CustomFunction[] {
  const inside = new Set(called);
  for (const { body } of functions.values())
    for (const name of inlineFunctions(body, functions).called) inside.add(name);
  return [...functions.values()].filter(({ name }) => !inside.has(name));
}

function calledNames(node: Node): readonly string[] {
  const inside = childrenOf(node).flatMap(calledNames);
  return node.kind === "call" ? [node.name, ...inside] : inside;
}

/** An expression without calls of custom functions, the functions that it called, and mistakes in calls. */
export interface InlinedExpression {
  readonly text: string;
  readonly called: ReadonlySet<string>;
  readonly problems: readonly FunctionProblem[];
}

/**
 * Replaces calls of custom functions with their bodies. Arguments take the place of parameters, or are bound to them if
 * a parameter is used more than once. Invalid expressions are returned unchanged: they are reported when compiled.
 */
export function inlineFunctions(text: string, functions: CustomFunctions): InlinedExpression {
  const inliner = new Inliner(functions);
  const root = parseExpression(text, new Problems());
  const inlined = root === undefined ? text : inliner.text(root, text, new Map());
  const { called, problems } = inliner;
  if (problems.some(({ problem }) => problem === TOO_LONG))
    return { text: ANYTHING, called, problems };
  return { text: called.size === 0 ? text : inlined, called, problems };
}

/** Replacement of a name. */
type Replacements = ReadonlyMap<string, string>;

class Inliner {
  readonly called = new Set<string>();
  readonly problems: FunctionProblem[] = [];
  readonly #functions: CustomFunctions;
  /** Number of calls that were replaced. */
  #calls = 0;
  /** Number of open calls: mistakes inside bodies are reported at the outer call. */
  readonly #open: Span[] = [];

  constructor(functions: CustomFunctions) {
    this.#functions = functions;
  }

  /** Returns the source of a node of an expression with its calls and names replaced. */
  text(node: Node, source: string, names: Replacements): string {
    const edits: { readonly span: Span; readonly text: string }[] = [];
    this.#collect(node, source, names, edits);
    let [text, at] = ["", node.span[0]];
    for (const edit of edits.toSorted((a, b) => a.span[0] - b.span[0])) {
      if (edit.span[0] < at) continue;
      text += source.slice(at, edit.span[0]) + edit.text;
      at = edit.span[1];
    }
    text += source.slice(at, node.span[1]);
    if (text.length <= MAX_LENGTH) return text;
    this.#report(TOO_LONG, node.span);
    return ANYTHING;
  }

  #collect(
    node: Node,
    source: string,
    names: Replacements,
    edits: { readonly span: Span; readonly text: string }[],
  ): void {
    if (node.kind === "name") {
      const text = names.get(node.name);
      if (text !== undefined) edits.push({ span: node.span, text });
      return;
    }
    if (node.kind === "call") {
      const found = this.#functions.get(node.name);
      if (found !== undefined) {
        edits.push({ span: node.span, text: this.#call(node, found, source, names) });
        return;
      }
    }
    if (node.kind !== "macro") {
      for (const child of childrenOf(node)) this.#collect(child, source, names, edits);
      return;
    }
    this.#collect(node.range, source, names, edits);
    const inner = new Map(names);
    // Variables of bodies get names of their own, so that they cannot capture those in arguments.
    const suffix = this.#open.length === 0 ? undefined : names.get(SUFFIX);
    for (const { name, span } of node.variables) {
      if (suffix === undefined) inner.delete(name);
      else {
        inner.set(name, `${name}${suffix}`);
        edits.push({ span, text: `${name}${suffix}` });
      }
    }
    for (const body of node.bodies) this.#collect(body, source, inner, edits);
  }

  #call(node: CallNode, found: CustomFunction, source: string, names: Replacements): string {
    const { name, parameters, rest, body, isMethod } = found;
    this.called.add(name);
    this.#calls += 1;
    // Functions that call each other twice double the work with each level.
    if (this.#calls === MAX_CALLS) this.#report(TOO_LONG, node.nameSpan);
    if (this.#calls >= MAX_CALLS) return ANYTHING;
    const { args } = node;
    const isCounted =
      rest === undefined ? args.length === parameters.length : args.length >= parameters.length;
    if (node.isMethod !== isMethod || !isCounted) {
      this.#report(`the function is called as ${formOf(found)}`, node.nameSpan);
      return ANYTHING;
    }
    const root = parseExpression(body, new Problems());
    if (root === undefined) return ANYTHING;
    const texts = args.map((arg) => this.text(arg, source, names));
    const suffix = `_${name}`;
    const inner = new Map([[SUFFIX, suffix]]);
    const bound: string[] = [];
    const bind = (parameter: string, text: string, isSimple: boolean) => {
      if (isSimple || usesOf(root, parameter) < 2) {
        inner.set(parameter, isSimple ? text : `(${text})`);
        return;
      }
      inner.set(parameter, `${parameter}${suffix}`);
      bound.push(`cel.bind(${parameter}${suffix}, ${text}, `);
    };
    parameters.forEach((parameter, index) => {
      const arg = args[index];
      bind(parameter, texts[index] ?? "null", arg !== undefined && isSimple(arg));
    });
    if (rest !== undefined) bind(rest, `[${texts.slice(parameters.length).join(", ")}]`, false);
    this.#open.push(this.#open[0] ?? node.nameSpan);
    const inlined = this.text(root, body, inner);
    this.#open.pop();
    return `(${bound.join("")}${inlined}${")".repeat(bound.length)})`;
  }

  #report(problem: string, within: Span): void {
    this.problems.push({ problem, within: this.#open[0] ?? within });
  }
}

/** Maximum number of calls in an expression and the bodies of its functions. */
const MAX_CALLS = 1_000;

const TOO_LONG = "the expression is too long with the bodies of its functions";

/** Takes the place of calls with mistakes, of any type. */
const ANYTHING = "dyn(null)";

/** Entry of replacements with what distinguishes the variables of a body; no name contains a space. */
const SUFFIX = "its suffix";

function formOf({ name, parameters, isMethod, rest }: CustomFunction): string {
  const given = isMethod ? parameters.slice(1) : parameters;
  const list = [...given, ...(rest === undefined ? [] : [`${rest}...`])].join(", ");
  return `${isMethod ? "this." : ""}${name}(${list})`;
}

/** Whether an argument can take the place of a parameter without parentheses and without work. */
function isSimple(node: Node): boolean {
  if (node.kind === "name") return true;
  if (node.kind === "literal")
    return node.literal.kind === "string" || node.literal.kind === "bool";
  if (node.kind === "select") return !node.isOptional && isSimple(node.operand);
  return (
    node.kind === "index" && !node.isOptional && isSimple(node.operand) && isSimple(node.index)
  );
}

function usesOf(node: Node, name: string): number {
  if (node.kind === "name") return node.name === name ? 1 : 0;
  return childrenOf(node).reduce((total, child) => total + usesOf(child, name), 0);
}

import { literalPattern } from "../model/literal-pattern.ts";

/** Reasons why a variable cannot be used in a place. */
export type MisplacedVariable = "outside-quotes" | "raw-text" | "comment" | "pattern";

/** An expression or pattern with the values of its variables, or the variable that cannot be used where it is. */
export type VariableText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "misplaced"; readonly name: string; readonly why: MisplacedVariable };

/** A literal part of a string, or the value of a variable. */
export type VariablePart = string | { readonly name: string; readonly value: string };

/**
 * Inserts the values of variables into an expression as data: escaped inside quotes, numbers and booleans outside. A
 * value that would become part of the expression itself is misplaced.
 */
export function expressionWithVariables(parts: readonly VariablePart[]): VariableText {
  const scanner = new ExpressionScanner();
  let text = "";
  for (const [index, part] of parts.entries()) {
    if (typeof part === "string") {
      scanner.read(part);
      text += part;
      continue;
    }
    const next = parts[index + 1];
    const data = scanner.dataOf(part.value, text, typeof next === "string" ? next : "");
    if (data === undefined || typeof data === "object")
      return { kind: "misplaced", name: part.name, why: data?.why ?? "outside-quotes" };
    text += data;
  }
  return { kind: "text", text };
}

/**
 * Inserts the values of variables into a pattern as literals; a pattern that is a single variable may have no special
 * characters.
 */
export function patternWithVariables(parts: readonly VariablePart[]): VariableText {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") text += part;
    else if ((parts.length === 1 && hasMeaning(part.value)) || text.endsWith("\\"))
      return { kind: "misplaced", name: part.name, why: "pattern" };
    else text += patternData(part.value);
  }
  return { kind: "text", text };
}

/** Escapes a string for a pattern, also inside brackets. */
function patternData(text: string): string {
  return literalPattern(text).replaceAll("-", "\\-");
}

/** Whether a string has special characters of patterns. */
function hasMeaning(text: string): boolean {
  return literalPattern(text).replaceAll("[.]", ".").replaceAll("\\.", ".") !== text;
}

interface Misplaced {
  readonly why: MisplacedVariable;
}

/** A string literal that is open at a place in an expression. */
interface OpenLiteral {
  /** The closing quotes. */
  readonly quote: string;
  readonly isRaw: boolean;
  /** The function whose argument it is, if that takes patterns. */
  readonly pattern: PatternFunction | undefined;
}

type PatternFunction = "matches" | "regexReplace";

/** Tracks strings, comments and calls while it scans an expression. */
class ExpressionScanner {
  #literal: OpenLiteral | undefined;
  #isComment = false;
  /** Whether the scanned part ends with a backslash, which would escape the next character. */
  #endsInEscape = false;
  #code = "";
  readonly #calls: (PatternFunction | undefined)[] = [];

  /** Scans a literal part. */
  read(text: string): void {
    let at = 0;
    while (at < text.length) at += this.#step(text, at);
    this.#endsInEscape = at > text.length;
  }

  /** Returns the spelling of a value at this place; `before` and `after` are the parts around it. */
  dataOf(value: string, before: string, after: string): string | Misplaced {
    if (this.#isComment) return /[\r\n]/.test(value) ? { why: "comment" } : value;
    if (this.#endsInEscape) return { why: "outside-quotes" };
    if (this.#literal === undefined) return this.#codeOf(value, before, after);
    const { quote, isRaw, pattern } = this.#literal;
    const isWhole = before.endsWith(quote) && after.startsWith(quote);
    if (pattern !== undefined && hasMeaning(value) && (isWhole || pattern === "regexReplace"))
      return { why: "pattern" };
    if (pattern !== undefined && before.endsWith("\\")) return { why: "pattern" };
    const data = pattern === undefined ? value : patternData(value);
    if (!isRaw) return escaped(data);
    return /["'\r\n]/.test(data) || (data.includes("\\") && pattern === undefined)
      ? { why: "raw-text" }
      : data;
  }

  /** Returns a number or boolean outside quotes as data, if it is not adjacent to another word. */
  #codeOf(value: string, before: string, after: string): string | Misplaced {
    const isAlone = !/[\w."'$)\]}]$/.test(before) && !/^[\w."'$([{]/.test(after);
    if (!isAlone || !/^(?:true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)$/.test(value))
      return { why: "outside-quotes" };
    this.#code += "0";
    return value.startsWith("-") ? `(${value})` : value;
  }

  #step(text: string, at: number): number {
    const char = text[at] ?? "";
    if (this.#isComment) {
      this.#isComment = char !== "\n" && char !== "\r";
      return 1;
    }
    if (this.#literal !== undefined) return this.#stepInLiteral(this.#literal, text, at);
    if (text.startsWith("//", at)) {
      this.#isComment = true;
      return 2;
    }
    if (char === '"' || char === "'") return this.#open(char, text, at);
    if (char === "(") this.#calls.push(calledFunction(this.#code));
    if (char === ")") this.#calls.pop();
    this.#code += char;
    return 1;
  }

  #open(char: string, text: string, at: number): number {
    const quote = text.startsWith(char.repeat(3), at) ? char.repeat(3) : char;
    const [, prefix = ""] = /(?:^|[^\w.])([rRbB]{1,2})$/.exec(this.#code) ?? [];
    this.#literal = {
      quote,
      isRaw: /r/i.test(prefix),
      pattern: this.#calls.findLast((each) => each !== undefined),
    };
    this.#code += '""';
    return quote.length;
  }

  #stepInLiteral({ quote, isRaw }: OpenLiteral, text: string, at: number): number {
    if (!isRaw && text[at] === "\\") return 2;
    if (!text.startsWith(quote, at)) return 1;
    this.#literal = undefined;
    return quote.length;
  }
}

/** Returns the function whose arguments begin after this code, if it takes patterns. */
function calledFunction(code: string): PatternFunction | undefined {
  const [, name] = /(?:^|[^\w])(matches|regexReplace)\s*$/.exec(code) ?? [];
  return name === "matches" || name === "regexReplace" ? name : undefined;
}

/** Escapes a string for quotes of any kind. */
function escaped(text: string): string {
  return text
    .replace(/[\\"']/g, "\\$&")
    .replaceAll("\r", "\\r")
    .replaceAll("\n", "\\n");
}

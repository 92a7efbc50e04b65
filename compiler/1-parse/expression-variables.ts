import { literalPattern } from "../model/literal-pattern.ts";

/** Why a variable cannot stand where it does. */
export type MisplacedVariable = "outside-quotes" | "raw-text" | "comment" | "pattern";

/** The text of an expression or pattern with its variables, or the variable that cannot stand where it does. */
export type VariableText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "misplaced"; readonly name: string; readonly why: MisplacedVariable };

/** A piece of text as it is written, or the value of a variable. */
export type VariablePart = string | { readonly name: string; readonly value: string };

/**
 * An expression with the values of its variables as data: escaped in quotes, numbers and booleans outside of them. What would
 * become a part of the expression itself is misplaced.
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

/** A pattern with the values of its variables as literal text; a pattern that is one variable may have no special characters. */
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

/** A text that stands for itself in a pattern, also between brackets. */
function patternData(text: string): string {
  return literalPattern(text).replaceAll("-", "\\-");
}

/** Whether a text says something else as a pattern. */
function hasMeaning(text: string): boolean {
  return literalPattern(text).replaceAll("[.]", ".").replaceAll("\\.", ".") !== text;
}

interface Misplaced {
  readonly why: MisplacedVariable;
}

/** A string literal that a place of the expression lies in. */
interface OpenLiteral {
  /** The characters that end it. */
  readonly quote: string;
  readonly isRaw: boolean;
  /** An argument of a function whose texts are patterns. */
  readonly pattern: PatternFunction | undefined;
}

type PatternFunction = "matches" | "regexReplace";

/** Follows the text of an expression: strings, comments and the calls around a place. */
class ExpressionScanner {
  #literal: OpenLiteral | undefined;
  #isComment = false;
  /** The text so far ends with a backslash, which would take a character of what follows. */
  #endsInEscape = false;
  #code = "";
  readonly #calls: (PatternFunction | undefined)[] = [];

  /** Goes over text as it is written. */
  read(text: string): void {
    let at = 0;
    while (at < text.length) at += this.#step(text, at);
    this.#endsInEscape = at > text.length;
  }

  /** What a value is written as at this place; `before` and `after` are the texts around it. */
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

  /** Outside of quotes a number or a boolean is data, where no other word touches it. */
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

/** The function whose arguments begin after the code, if its texts are patterns. */
function calledFunction(code: string): PatternFunction | undefined {
  const [, name] = /(?:^|[^\w])(matches|regexReplace)\s*$/.exec(code) ?? [];
  return name === "matches" || name === "regexReplace" ? name : undefined;
}

/** A text between quotes of any kind. */
function escaped(text: string): string {
  return text
    .replace(/[\\"']/g, "\\$&")
    .replaceAll("\r", "\\r")
    .replaceAll("\n", "\\n");
}

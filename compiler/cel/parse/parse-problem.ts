import type { Span } from "./ast.ts";

/** Description of a syntax error, and a hint if there is one. */
export interface ParseProblem {
  readonly problem: string;
  readonly advice: string | undefined;
}

/** Describes a message of the parser (`Expected RPAREN, got EOF`) without naming tokens. */
export function parseProblem(summary: string, text: string, [start, end]: Span): ParseProblem {
  const [, missing] = /^Expected (\w+), got/.exec(summary) ?? [];
  const isAtEnd = text.slice(start).trim() === "";
  if (missing !== undefined) {
    const place = isAtEnd ? "at its end" : `before \`${text.slice(start, end)}\``;
    return { problem: `${TOKENS[missing] ?? missing} is missing ${place}`, advice: undefined };
  }
  if (/^unterminated string/i.test(summary))
    return {
      problem: "a string is not closed",
      advice:
        "close it with the same quote; between [ and ] YAML ends an item at a comma, unless the whole string is in single quotes",
    };
  if (/^Unexpected token/.test(summary) && isAtEnd) return cutShort(text);
  if (/^Unexpected (?:token|character)/.test(summary)) return unexpected(text, start, end);
  const [first = summary] = summary.split("\n");
  return { problem: first.charAt(0).toLowerCase() + first.slice(1), advice: undefined };
}

const TOKENS: Readonly<Record<string, string>> = {
  RPAREN: "`)`",
  RBRACKET: "`]`",
  RBRACE: "`}`",
  COLON: "`:`",
  IDENTIFIER: "a name",
};

/** Describes an expression that ends too early. */
function cutShort(text: string): ParseProblem {
  const [, percent] = /^\s*([\d.]+)\s*%\s*$/.exec(text) ?? [];
  if (percent !== undefined)
    return {
      problem: "there are no percentages in CEL",
      advice: `${percent} of 100 are \`${Number(percent) / 100}\``,
    };
  const [last] = /(?:&&|\|\||[=!<>]=|[-+*/%<>!?:([{,.]|\bin)\s*$/.exec(text) ?? [];
  if (last === undefined) return { problem: "it is empty", advice: undefined };
  const operator = last.trim();
  return {
    problem: `nothing follows \`${operator}\``,
    advice: `add an operand, or remove \`${operator}\``,
  };
}

function unexpected(text: string, start: number, end: number): ParseProblem {
  const found = text.slice(start, Math.max(end, start + 1));
  const shown = /^["']/.test(found) ? "a string" : `\`${found}\``;
  if (/^[)\]}]/.test(found))
    return { problem: `${shown} has no opening counterpart`, advice: undefined };
  const fraction = found === "." ? /^\.\d+/.exec(text.slice(start))?.[0] : undefined;
  if (fraction !== undefined) {
    return { problem: "a number must begin with a digit", advice: `write \`0${fraction}\`` };
  }
  if (start === 0 && /^\/[\w./-]*$/.test(text))
    return {
      problem: `${shown} is not allowed here`,
      advice: `put strings in quotes: '"${text}"'`,
    };
  const isValue = /^[\w"']/.test(found) && text.slice(0, start).trim() !== "";
  return isValue
    ? {
        problem: `an operator is missing before ${shown}`,
        advice: "combine conditions with `&&` and `||`",
      }
    : { problem: `${shown} is not allowed here`, advice: undefined };
}

import type { Span } from "./ast.ts";

/** What the parser says of a text that is no CEL, in words, and what to do where that is known. */
export interface ParseProblem {
  readonly problem: string;
  readonly advice: string | undefined;
}

/** A summary of the parser (`Expected RPAREN, got EOF`) for somebody who does not know its tokens. */
export function parseProblem(summary: string, text: string, [start, end]: Span): ParseProblem {
  const [, missing] = /^Expected (\w+), got/.exec(summary) ?? [];
  const isAtEnd = text.slice(start).trim() === "";
  if (missing !== undefined) {
    const place = isAtEnd ? "at its end" : `before \`${text.slice(start, end)}\``;
    return { problem: `${TOKENS[missing] ?? missing} is missing ${place}`, advice: undefined };
  }
  if (/^unterminated string/i.test(summary))
    return {
      problem: "a text is not closed",
      advice:
        "it ends with the quote that it begins with; between [ and ] YAML ends an item at a comma, unless the whole text stands in single quotes",
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

/** It ends where something should follow. */
function cutShort(text: string): ParseProblem {
  const [, percent] = /^\s*([\d.]+)\s*%\s*$/.exec(text) ?? [];
  if (percent !== undefined)
    return {
      problem: "there are no percents in it",
      advice: `${percent} of 100 are \`${Number(percent) / 100}\``,
    };
  const [last] = /(?:&&|\|\||[=!<>]=|[-+*/%<>!?:([{,.]|\bin)\s*$/.exec(text) ?? [];
  if (last === undefined) return { problem: "there is nothing in it", advice: undefined };
  const operator = last.trim();
  return {
    problem: `nothing follows \`${operator}\``,
    advice: `write what follows, or remove \`${operator}\``,
  };
}

function unexpected(text: string, start: number, end: number): ParseProblem {
  const found = text.slice(start, Math.max(end, start + 1));
  const shown = /^["']/.test(found) ? "a text" : `\`${found}\``;
  if (/^[)\]}]/.test(found))
    return { problem: `nothing was opened that ${shown} closes`, advice: undefined };
  const fraction = found === "." ? /^\.\d+/.exec(text.slice(start))?.[0] : undefined;
  if (fraction !== undefined) {
    return { problem: "a number begins with a digit", advice: `write \`0${fraction}\`` };
  }
  if (start === 0 && /^\/[\w./-]*$/.test(text))
    return { problem: `${shown} can't stand here`, advice: `a text stands in quotes: '"${text}"'` };
  const isValue = /^[\w"']/.test(found) && text.slice(0, start).trim() !== "";
  return isValue
    ? {
        problem: `an operator is missing before ${shown}`,
        advice: "conditions are joined by `&&` and `||`",
      }
    : { problem: `${shown} can't stand here`, advice: undefined };
}

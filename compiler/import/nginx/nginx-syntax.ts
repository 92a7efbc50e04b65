import path from "node:path";
import type { Host } from "../../host.ts";
import { literalPattern } from "../../model/literal-pattern.ts";
import { type Directive, type DirectivePlace, DirectiveProblem } from "../directives/directive.ts";

/** Maximum nesting depth of includes. */
const DEPTH = 10;

/**
 * Parses a file of nginx and expands its includes. An `include` without a readable file is left unchanged. Throws a
 * DirectiveProblem on syntax errors.
 */
export function readNginx(file: string, text: string, host: Host): readonly Directive[] {
  return included(parsed(file, text), path.dirname(file), host, 0);
}

function included(
  directives: readonly Directive[],
  root: string,
  host: Host,
  depth: number,
): readonly Directive[] {
  return directives.flatMap((each): readonly Directive[] => {
    const [pattern = ""] = each.words;
    if (each.name !== "include") {
      if (each.block === undefined) return [each];
      return [{ ...each, block: included(each.block, root, host, depth) }];
    }
    if (depth === DEPTH)
      throw new DirectiveProblem(each, `includes are nested deeper than ${DEPTH} levels`);
    const found = filesOf(path.join(path.isAbsolute(pattern) ? "" : root, pattern), host);
    if (found === undefined) return [each];
    return found.flatMap(({ file, text }) => included(parsed(file, text), root, host, depth + 1));
  });
}

/** Returns the files of a pattern; `undefined` if one cannot be read. */
function filesOf(
  pattern: string,
  host: Host,
): readonly { readonly file: string; readonly text: string }[] | undefined {
  const [folder, base] = [path.dirname(pattern), path.basename(pattern)];
  if (/[*?[]/.test(folder)) return undefined;
  const isPattern = /[*?[]/.test(base);
  const names = isPattern ? host.namesIn(folder) : [base];
  if (names === undefined) return undefined;
  const chosen = isPattern ? names.filter((name) => matches(name, base)) : names;
  const files = chosen.map((name) => {
    const file = path.join(folder, name);
    return { file, read: host.readText(file) };
  });
  if (files.some(({ read }) => read.kind === "problem")) return undefined;
  return files.map(({ file, read }) => ({ file, text: read.kind === "text" ? read.text : "" }));
}

/** Whether a name matches a shell pattern; hidden files never match. */
function matches(name: string, pattern: string): boolean {
  const source = pattern
    .replace(/[^*?[\]]+/g, literalPattern)
    .replaceAll("*", ".*")
    .replaceAll("?", ".")
    .replaceAll("[!", "[^");
  return new RegExp(`^(?!\\.)${source}$`).test(name);
}

interface Token extends DirectivePlace {
  readonly kind: "word" | "{" | "}" | ";";
  readonly text: string;
}

function parsed(file: string, text: string): readonly Directive[] {
  const tokens = tokensOf(file, text);
  let next = 0;
  const block = (opened: Token | undefined): readonly Directive[] => {
    const directives: Directive[] = [];
    for (;;) {
      const token = tokens[next];
      next += 1;
      if (token === undefined) {
        if (opened === undefined) return directives;
        throw new DirectiveProblem(opened, 'missing "}"');
      }
      if (token.kind === "}" && opened !== undefined) return directives;
      if (token.kind !== "word") throw new DirectiveProblem(token, `unexpected "${token.kind}"`);
      const words: string[] = [];
      let end = tokens[next];
      for (; end?.kind === "word"; end = tokens[next]) {
        words.push(end.text);
        next += 1;
      }
      next += 1;
      const own = { file, line: token.line, name: token.text, words };
      if (end?.kind === ";") directives.push(own);
      else if (end?.kind !== "{") throw new DirectiveProblem(token, 'missing ";"');
      // The contents of such a block are not nginx syntax.
      else if (/_by_lua_block$/.test(token.text))
        throw new DirectiveProblem(token, "Lua blocks are not supported");
      else directives.push({ ...own, block: block(end) });
    }
  };
  return block(undefined);
}

/** Splits a file into tokens as nginx does: quotes delimit words, a backslash escapes the next character. */
function tokensOf(file: string, text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let at = 0;
  const add = (kind: Token["kind"], value: string, start: number) =>
    tokens.push({ file, line: start, kind, text: value });
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === "\n") line += 1;
    if (/\s/.test(char)) at += 1;
    else if (char === "#") at = lineEnd(text, at);
    else if (char === "{" || char === "}" || char === ";") {
      add(char, char, line);
      at += 1;
    } else {
      const start = line;
      const quote = char === '"' || char === "'" ? char : undefined;
      let word = "";
      if (quote !== undefined) at += 1;
      for (; ; at += 1) {
        const one = text.charAt(at);
        if (one === "" && quote === undefined) break;
        if (one === "") throw new DirectiveProblem({ file, line: start }, "unterminated quote");
        if (one === "\n") line += 1;
        if (one === "\\" && at + 1 < text.length) {
          word += escaped(text.charAt(at + 1));
          at += 1;
          if (text.charAt(at) === "\n") line += 1;
        } else if (quote !== undefined && one === quote) {
          at += 1;
          break;
        } else if (quote === undefined && one === "$" && text.charAt(at + 1) === "{") {
          word += "${";
          at += 1;
        } else if (quote === undefined && /[\s;{]/.test(one)) {
          if (one === "\n") line -= 1;
          break;
        } else word += one;
      }
      if (quote !== undefined && !/[\s;{)]|^$/.test(text.charAt(at)))
        throw new DirectiveProblem({ file, line }, "missing space after a quote");
      add("word", word, start);
    }
  }
  return tokens;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function escaped(char: string): string {
  const known: Readonly<Record<string, string>> = { t: "\t", r: "\r", n: "\n" };
  return /["'\\]/.test(char) ? char : (known[char] ?? `\\${char}`);
}

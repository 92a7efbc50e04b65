import path from "node:path";
import type { Host } from "../../host.ts";
import { type Directive, type DirectivePlace, DirectiveProblem } from "../directives/directive.ts";
import { caddyVariables } from "./caddy-values.ts";

/** A parsed Caddyfile with snippets and imports expanded. */
export interface Caddyfile {
  readonly options: readonly Directive[];
  /** Sites: the name is the first address, the words are further addresses. */
  readonly sites: readonly Directive[];
}

/** Parses a Caddyfile; throws a DirectiveProblem if it is malformed. */
export function readCaddyfile(file: string, text: string, host: Host): Caddyfile {
  const lines = linesOf(file, text);
  const snippets = new Map<string, readonly Line[]>();
  const blocks = topLevel(lines);
  const options: Directive[] = [];
  const sites: Directive[] = [];
  for (const { head, inside } of blocks) {
    const [first] = head;
    if (first === undefined) options.push(...directives(inside, snippets, host, 0));
    else if (/^\(.+\)$/.test(first.text)) snippets.set(first.text.slice(1, -1), inside);
    else if (first.text === "import") {
      for (const each of importedFiles(head, host)) {
        const found = readCaddyfile(each.file, each.text, host);
        sites.push(...found.sites);
      }
    } else {
      const names = head.map((each) => each.text.replace(/,$/, "")).filter((each) => each !== "");
      const [name = "", ...words] = names;
      const block = directives(inside, snippets, host, 0);
      sites.push({ file, line: first.line, name, words, block });
    }
  }
  return { options, sites };
}

interface Token extends DirectivePlace {
  readonly text: string;
  /** Whether it was quoted: quoted braces do not open blocks. */
  readonly isQuoted: boolean;
}

type Line = readonly Token[];

/** Splits a file into lines of tokens; quotes, backquotes and heredocs are one token, a trailing backslash joins lines. */
function linesOf(file: string, text: string): readonly Line[] {
  const lines: Token[][] = [[]];
  let line = 1;
  let at = 0;
  const end = () => {
    if (lines.at(-1)?.length !== 0) lines.push([]);
  };
  const add = (value: string, start: number, isQuoted: boolean) =>
    lines.at(-1)?.push({ file, line: start, text: caddyVariables(value), isQuoted });
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === "\n") {
      end();
      line += 1;
      at += 1;
    } else if (char === "\\" && /^\\\r?\n/.test(text.slice(at, at + 3))) {
      at = text.indexOf("\n", at) + 1;
      line += 1;
    } else if (/\s/.test(char)) at += 1;
    else if (char === "#") {
      const next = text.indexOf("\n", at);
      at = next < 0 ? text.length : next;
    } else if (char === '"' || char === "`") {
      const start = line;
      let value = "";
      for (at += 1; text.charAt(at) !== char; at += 1) {
        if (at >= text.length)
          throw new DirectiveProblem({ file, line: start }, "unterminated quote");
        if (char === '"' && text.charAt(at) === "\\" && text.charAt(at + 1) === '"') at += 1;
        if (text.charAt(at) === "\n") line += 1;
        value += text.charAt(at);
      }
      at += 1;
      add(value, start, true);
    } else {
      const [word = ""] = /^\S+/.exec(text.slice(at)) ?? [];
      const [, mark] = /^<<([A-Za-z0-9_-]+)$/.exec(word) ?? [];
      if (mark !== undefined) {
        const rest = text.slice(at + word.length);
        const found = new RegExp(`^[^\\n]*\\n([\\s\\S]*?)\\n?([ \\t]*)${mark}(?!\\S)`).exec(rest);
        if (found === null)
          throw new DirectiveProblem({ file, line }, `unterminated heredoc: "${mark}" is missing`);
        const [whole, body = "", indent = ""] = found;
        add(body.replace(new RegExp(`^${indent}`, "gm"), ""), line, true);
        line += whole.split("\n").length - 1;
        at += word.length + whole.length;
      } else {
        add(word, line, false);
        at += word.length;
      }
    }
  }
  return lines.filter((each) => each.length > 0);
}

function isOpening(token: Token | undefined): boolean {
  return token?.text === "{" && !token.isQuoted;
}

function isClosing(line: Line): boolean {
  return line.length === 1 && line[0]?.text === "}" && !line[0].isQuoted;
}

interface Block {
  readonly head: Line;
  readonly inside: readonly Line[];
}

/** Splits a file into top-level blocks; without braces, the whole file is one site. */
function topLevel(lines: readonly Line[]): readonly Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    let head = lines[at] ?? [];
    at += 1;
    // A comma at the end of a line continues the list of addresses.
    while (head.at(-1)?.text.endsWith(",") === true && at < lines.length) {
      head = [...head, ...(lines[at] ?? [])];
      at += 1;
    }
    if (isOpening(head.at(-1))) {
      const end = endOf(lines, at, head);
      blocks.push({ head: head.slice(0, -1), inside: lines.slice(at, end) });
      at = end + 1;
    } else if (head[0]?.text === "import" && blocks.length === 0 && at === lines.length) {
      blocks.push({ head, inside: [] });
    } else if (
      blocks.every((each) => each.head.length === 0 || /^\(/.test(each.head[0]?.text ?? ""))
    ) {
      blocks.push({ head, inside: lines.slice(at) });
      return blocks;
    } else if (head[0]?.text === "import") blocks.push({ head, inside: [] });
    else
      throw new DirectiveProblem(
        placeOf(head),
        `a file with several sites needs braces around each`,
      );
  }
  return blocks;
}

function placeOf(line: Line): DirectivePlace {
  return line[0] ?? { file: "", line: 0 };
}

/** Returns the index of the line that closes a block. */
function endOf(lines: readonly Line[], start: number, head: Line): number {
  let depth = 1;
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at] ?? [];
    if (isClosing(line)) depth -= 1;
    else if (isOpening(line.at(-1))) depth += 1;
    if (depth === 0) return at;
  }
  throw new DirectiveProblem(placeOf(head), 'missing "}"');
}

/** Maximum nesting depth of imports. */
const DEPTH = 10;

/** Parses the directives of a block, and expands imported snippets with their arguments. */
function directives(
  lines: readonly Line[],
  snippets: ReadonlyMap<string, readonly Line[]>,
  host: Host,
  depth: number,
): readonly Directive[] {
  const found: Directive[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? [];
    const hasBlock = isOpening(line.at(-1));
    const [first, ...rest] = hasBlock ? line.slice(0, -1) : line;
    if (first === undefined || isClosing(line))
      throw new DirectiveProblem(placeOf(line), "unexpected brace");
    const end = hasBlock ? endOf(lines, at + 1, line) : at;
    const inside = lines.slice(at + 1, end);
    at = end;
    if (first.text === "import" && !first.isQuoted) {
      if (depth === DEPTH)
        throw new DirectiveProblem(first, `imports are nested deeper than ${DEPTH} levels`);
      const [name, ...words] = rest;
      const snippet = snippets.get(name?.text ?? "");
      const read = snippet
        ?.flatMap((each) => withBlock(each, inside))
        .map((each) =>
          filled(
            each,
            words.map(({ text }) => text),
          ),
        );
      const lists =
        read === undefined
          ? importedFiles(line, host).map((each) => linesOf(each.file, each.text))
          : [read];
      found.push(...lists.flatMap((each) => directives(each, snippets, host, depth + 1)));
      continue;
    }
    found.push({
      ...placeOf([first]),
      file: first.file,
      line: first.line,
      name: first.text,
      words: rest.map(({ text }) => text),
      ...(hasBlock && { block: directives(inside, snippets, host, depth) }),
    });
  }
  return found.map(({ file, line, name, words, block }) => ({ file, line, name, words, block }));
}

/** Replaces `{block}` and `{blocks.NAME}` in a snippet by what its import has in braces. */
function withBlock(line: Line, inside: readonly Line[]): readonly Line[] {
  const [first, ...rest] = line;
  if (first === undefined || first.isQuoted || rest.length > 0) return [line];
  if (first.text === "{block}") return inside;
  const [, name] = /^\{blocks\.([\w.-]+)\}$/.exec(first.text) ?? [];
  if (name === undefined) return [line];
  const start = inside.findIndex(
    (each) => each.length === 2 && each[0]?.text === name && isOpening(each[1]),
  );
  const head = inside[start];
  return head === undefined ? [] : inside.slice(start + 1, endOf(inside, start + 1, head));
}

/** Fills the arguments of an import into a line of a snippet. */
function filled(line: Line, words: readonly string[]): Line {
  return line.flatMap((token) => {
    if (token.text === "{args[:]}") return words.map((text) => ({ ...token, text }));
    const text = token.text.replace(
      /\{args(?:\[(\d+)\]|\.(\d+))\}/g,
      (all, index, older) => words[Number(index ?? older)] ?? all,
    );
    return [{ ...token, text }];
  });
}

function importedFiles(
  line: Line,
  host: Host,
): readonly { readonly file: string; readonly text: string }[] {
  const [, pattern] = line;
  const { file: from } = placeOf(line);
  const target = path.join(
    path.isAbsolute(pattern?.text ?? "") ? "" : path.dirname(from),
    pattern?.text ?? "",
  );
  const folder = path.dirname(target);
  const isPattern = target.includes("*");
  if (folder.includes("*") || /[?[]/.test(target))
    throw new DirectiveProblem(
      placeOf(line),
      `import ${pattern?.text}: this pattern is not supported`,
    );
  const [start = "", end = ""] = path.basename(target).split("*");
  const names = isPattern
    ? (host.namesIn(folder) ?? []).filter(
        (name) => name.startsWith(start) && name.endsWith(end) && !name.startsWith("."),
      )
    : [path.basename(target)];
  return names.map((name) => {
    const file = path.join(folder, name);
    const read = host.readText(file);
    if (read.kind === "problem")
      throw new DirectiveProblem(placeOf(line), `"${file}" cannot be read: ${read.problem}`);
    return { file, text: read.text };
  });
}

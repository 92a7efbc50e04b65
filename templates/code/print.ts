import type {
  Break,
  Code,
  Comment,
  Expression,
  Filled,
  Group,
  Hole,
  ImportSymbol,
  Literal,
  Piece,
} from "./hole.ts";
import { ImportNames, symbolKey } from "./import-names.ts";
import { laidOut } from "./layout.ts";
import { laidOutLiteral } from "./literal-layout.ts";
import { stringLiteral } from "./quote.ts";

/** Maximum columns of a printed line. */
const WIDTH = 100;

/** A printed module: its path below the output folder, and its source. */
export interface PrintedModule {
  readonly path: string;
  readonly text: string;
  /** Imported modules as written: `gwc/runtime/...`, or a path relative to its own folder. */
  readonly imports: readonly string[];
  /** Set for a module that a user wrote: its folder, in which its packages are found, and its path in diagnostics. */
  readonly user?: { readonly folder: string; readonly file: string };
}

/** Content of a module. */
export interface ModuleParts {
  readonly path: string;
  /** Comment lines at the top. */
  readonly header: readonly Comment[];
  readonly body: Hole;
  /** Modules that run before all others are loaded. */
  readonly first?: readonly string[];
  /** Names that the module declares; an import of the same name gets another one. */
  readonly declared: readonly string[];
}

/** Prints a module: header, imports sorted by module, body. */
export function printModule({
  path,
  header,
  body,
  declared,
  first = [],
}: ModuleParts): PrintedModule {
  const printer = new Printer(new Set(declared));
  printer.print(body);
  const head = new Printer(new Set());
  head.print(header);
  const imports = printer.importLines();
  const before = first.map((module) => `import ${stringLiteral(module)};`).join("\n");
  const sections = [head.text, before, imports, printer.text].filter((section) => section !== "");
  return {
    path,
    text: `${sections
      .join("\n\n")
      .replace(/[ \t]+$/gm, "")
      .replace(/\n{3,}/g, "\n\n")}\n`,
    imports: [...first, ...printer.importedModules()],
  };
}

/** Prints a hole on its own. */
export function printText(hole: Hole): string {
  const printer = new Printer(new Set());
  printer.print(hole);
  return printer.text;
}

/** A pending hole or fixed string, with its indentation. */
interface Command {
  readonly piece: Piece;
  /** Columns by which its lines after the first are indented. */
  readonly depth: number;
  /** Whether the group around it is printed on one line. */
  readonly isFlat: boolean;
}

/** Prints holes and collects their imports. */
class Printer {
  /** Finished lines and the current one: searching the whole output for each piece would take quadratic time. */
  #done = "";
  #line = "";
  readonly #imports = new Map<string, ImportSymbol>();
  readonly #names: ImportNames;
  readonly #layouts = new WeakMap<Literal | Expression, Piece>();
  readonly #breaking = new WeakMap<Group, boolean>();

  constructor(declared: ReadonlySet<string>) {
    this.#names = new ImportNames(declared);
  }

  get text(): string {
    return this.#done + this.#line;
  }

  print(hole: Hole): void {
    const commands: Command[] = [{ piece: hole, depth: 0, isFlat: false }];
    for (let next = commands.pop(); next !== undefined; next = commands.pop()) {
      this.#step(next, commands);
    }
  }

  /** Imported modules, in the order of the import lines. */
  importedModules(): readonly string[] {
    return [...new Set([...this.#imports.values()].map(({ module }) => module))].sort(
      compareModules,
    );
  }

  importLines(): string {
    const byModule = Map.groupBy(this.#imports.values(), ({ module }) => module);
    const lines = this.importedModules().map((module) =>
      this.#importLine(module, byModule.get(module) ?? []),
    );
    return lines.join("\n");
  }

  #importLine(module: string, symbols: readonly ImportSymbol[]): string {
    const [first] = symbols;
    if (first?.isDefault === true)
      return `import ${this.#names.nameOf(first)} from ${stringLiteral(module)};`;
    const onlyTypes = symbols.every((symbol) => symbol.isType);
    const names = symbols
      .map((symbol) => {
        const local = this.#names.nameOf(symbol);
        const spelled = local === symbol.name ? local : `${symbol.name} as ${local}`;
        return symbol.isType && !onlyTypes ? `type ${spelled}` : spelled;
      })
      .sort((a, b) => compareNames(a.replace(/^type /, ""), b.replace(/^type /, "")));
    const start = onlyTypes ? "import type {" : "import {";
    const line = `${start} ${names.join(", ")} } from ${stringLiteral(module)};`;
    if (line.length <= WIDTH) return line;
    return `${start}\n${names.map((each) => `  ${each},\n`).join("")}} from ${stringLiteral(module)};`;
  }

  #importName(symbol: ImportSymbol): string {
    const key = symbolKey(symbol);
    const known = this.#imports.get(key);
    if (known === undefined || (known.isType && !symbol.isType)) this.#imports.set(key, symbol);
    return this.#names.nameOf(symbol);
  }

  /** Prints one piece, or replaces it with its parts on the stack of commands. */
  #step(command: Command, rest: Command[]): void {
    const { piece, depth, isFlat } = command;
    if (typeof piece === "string") this.#write(piece.replace(/\n/g, `\n${" ".repeat(depth)}`));
    else if (isList(piece)) rest.push(...itemsOf(piece, command).reverse());
    else {
      switch (piece.kind) {
        case "import":
          this.#write(this.#importName(piece));
          return;
        case "break":
          this.#write(isFlat ? piece.flat : `\n${" ".repeat(depth)}`);
          return;
        case "comment":
          this.#write(wrap(piece.text, depth).join(`\n${" ".repeat(depth)}`));
          return;
        case "filled":
          this.#fill(piece.items, depth);
          return;
        case "group":
          rest.push(this.#chosen(piece, command, rest));
          return;
        case "code":
          rest.push(...contentOf(piece, command, this.#line.trim() === "").reverse());
          return;
        default:
          rest.push(this.#inner(piece, command));
      }
    }
  }

  /** Expands a piece into what it is printed as. */
  #inner(
    piece: Exclude<Hole, readonly Hole[] | Code | Group | Break | Comment | Filled | ImportSymbol>,
    { depth, isFlat }: Command,
  ): Command {
    switch (piece.kind) {
      case "name":
        return { piece: piece.text, depth, isFlat };
      case "indented":
        return { piece: piece.content, depth: depth + 2, isFlat };
      case "broken-only":
        return { piece: isFlat ? piece.flat : piece.broken, depth, isFlat };
      default:
        return { piece: this.#layout(piece), depth, isFlat };
    }
  }

  /** Lays out a literal or expression, once: groups ask for it repeatedly. */
  #layout(piece: Literal | Expression): Piece {
    const known = this.#layouts.get(piece);
    if (known !== undefined) return known;
    const made =
      piece.kind === "literal" || piece.kind === "extension"
        ? laidOutLiteral(piece.kind === "literal" ? piece.value : piece, (symbol) =>
            this.#importName(symbol),
          )
        : laidOut(piece, "operand");
    this.#layouts.set(piece, made);
    return made;
  }

  /** Chooses the form of a group that fits into the line, together with what follows on it. */
  #chosen(group: Group, { depth, isFlat }: Command, rest: readonly Command[]): Command {
    const { forms, isBroken } = group;
    const [first = []] = forms;
    const broken = { piece: forms.at(-1) ?? first, depth, isFlat: false };
    if (isBroken) return broken;
    const isBreaking = this.#isGroupBreaking(group);
    if (forms.length === 1 && isBreaking) return broken;
    if (isFlat) return { piece: first, depth, isFlat };
    const flat = forms.map((piece) => ({ piece, depth, isFlat: true }));
    const open = isBreaking ? flat.slice(1) : flat;
    return open.find((form) => this.#fits(form, rest)) ?? broken;
  }

  /** Returns whether a command fits into the line, up to the first line break in or after it. */
  #fits(command: Command, rest: readonly Command[]): boolean {
    let left = WIDTH - this.#line.length;
    let following = rest.length;
    const commands = [command];
    while (left >= 0) {
      following -= commands.length === 0 ? 1 : 0;
      const next = commands.pop() ?? rest[following];
      if (next === undefined) return true;
      const { piece, isFlat, depth } = next;
      if (typeof piece === "string") {
        const end = piece.indexOf("\n");
        left -= end < 0 ? piece.length : end;
        if (end >= 0) return left >= 0 && !isFlat;
      } else if (isList(piece)) commands.push(...itemsOf(piece, next).reverse());
      else {
        switch (piece.kind) {
          case "import":
            left -= this.#names.nameOf(piece).length;
            break;
          case "break":
            if (!isFlat) return true;
            left -= piece.flat.length;
            break;
          case "comment":
            return false;
          case "filled":
            commands.push({ piece: piece.items.join(", "), depth, isFlat });
            break;
          case "group": {
            const isBroken =
              piece.isBroken || (piece.forms.length === 1 && this.#isGroupBreaking(piece));
            const form = isFlat ? piece.forms[0] : piece.forms.at(-1);
            commands.push({ piece: form ?? "", depth, isFlat: isFlat && !isBroken });
            break;
          }
          case "code":
            commands.push(...contentOf(piece, next, false).reverse());
            break;
          default:
            commands.push(this.#inner(piece, next));
        }
      }
    }
    return false;
  }

  /** Caches the result, because nested groups ask repeatedly. */
  #isGroupBreaking(group: Group): boolean {
    const known = this.#breaking.get(group);
    if (known !== undefined) return known;
    const isBreaking = group.isBroken || this.#isBreaking(group.forms[0] ?? "");
    this.#breaking.set(group, isBreaking);
    return isBreaking;
  }

  /** Returns whether a piece has a line break at any width. */
  #isBreaking(piece: Piece): boolean {
    if (typeof piece === "string") return piece.includes("\n");
    if (isList(piece)) return piece.length > 1 || piece.some((item) => this.#isBreaking(item));
    switch (piece.kind) {
      case "code":
        return piece.parts.some((part) => this.#isBreaking(part));
      case "group":
        return this.#isGroupBreaking(piece);
      case "indented":
        return this.#isBreaking(piece.content);
      case "comment":
        return true;
      case "import":
      case "name":
      case "break":
      case "broken-only":
      case "filled":
        return false;
      default:
        return this.#isBreaking(this.#layout(piece));
    }
  }

  #fill(items: readonly string[], depth: number): void {
    items.forEach((item, index) => {
      const text = index < items.length - 1 ? `${item},` : item;
      const isFirst = index === 0;
      const fits = this.#line.length + text.length + (isFirst ? 0 : 1) <= WIDTH;
      this.#write(isFirst ? text : fits ? ` ${text}` : `\n${" ".repeat(depth)}${text}`);
    });
  }

  #write(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      this.#done += this.#line + text.slice(0, end);
      this.#line = "";
    }
    this.#line += text.slice(end);
  }
}

/** Prints the items of a list, each on its line. */
function itemsOf(items: readonly Hole[], { depth, isFlat }: Command): Command[] {
  return items.flatMap((piece, index): Command[] => {
    const item = { piece, depth, isFlat };
    return index === 0 ? [item] : [{ piece: "\n", depth, isFlat }, item];
  });
}

/**
 * Splits code into parts. A hole of several lines keeps the indentation of its line. An empty list that is first on a
 * line also removes the line break after it. `isAtStart`: whether the line is still empty.
 */
function contentOf({ parts }: Code, { depth, isFlat }: Command, isAtStart: boolean): Command[] {
  const commands: Command[] = [];
  let line = isAtStart ? "" : "before";
  let indentation = 0;
  let skipsLineBreak = false;
  for (const part of parts) {
    if (typeof part !== "string") {
      const isEmpty = isList(part) && part.length === 0;
      if (isEmpty && line.trim() === "") skipsLineBreak = true;
      else {
        commands.push({ piece: part, depth: depth + indentation, isFlat });
        line += "hole";
      }
      continue;
    }
    const text = skipsLineBreak ? part.replace(/^\n[ \t]*/, "") : part;
    skipsLineBreak = false;
    if (text === "") continue;
    commands.push({ piece: text, depth, isFlat });
    const end = text.lastIndexOf("\n") + 1;
    line = end === 0 ? line + text : text.slice(end);
    if (end > 0 || line === text) indentation = line.length - line.trimStart().length;
  }
  return commands;
}

/** Splits a comment into lines. */
function wrap(text: string, depth: number): string[] {
  const width = Math.max(20, WIDTH - depth - 3);
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    // Breaks between words if possible, otherwise between the steps of a path.
    const ends = [" ", ".", "/"].map((between) => rest.lastIndexOf(between, width));
    const end = ends.find((each) => each > width / 2) ?? width;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  lines.push(rest);
  return lines.map((line) => `// ${line}`);
}

/** Compares strings by code units, independent of the locale. */
function compareNames(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  if (left !== right) return left < right ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts packages before the output's own files. */
function compareModules(a: string, b: string): number {
  const [ownA, ownB] = [a.startsWith("."), b.startsWith(".")];
  if (ownA !== ownB) return ownA ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function isList(piece: Hole): piece is readonly Hole[] {
  return Array.isArray(piece);
}

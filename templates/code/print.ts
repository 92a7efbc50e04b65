import type { Code, Comment, Either, Hole, ImportSymbol, Name, Printable } from "./code.ts";
import { code, imported, join, literal, made, verbatim } from "./code.ts";

/** Columns of the printed text. */
const WIDTH = 100;

/** A finished module: its path below the output folder, and its text. */
export interface PrintedModule {
  readonly path: string;
  readonly text: string;
}

/** What a module is made of. */
export interface ModuleParts {
  readonly path: string;
  /** Comment lines at its head. */
  readonly header: readonly Comment[];
  readonly body: Hole;
  /** Names the module declares itself: an import of the same name gets another one. */
  readonly declared: readonly string[];
}

/** Prints a module: header, imports in the order of their modules, body. */
export function printModule({ path, header, body, declared }: ModuleParts): PrintedModule {
  const printer = new Printer(new Set(declared));
  printer.print(body);
  const head = new Printer(new Set());
  head.print(header);
  const imports = printer.importLines();
  const sections = [head.text, imports, printer.text].filter((section) => section !== "");
  return {
    path,
    text: `${sections
      .join("\n\n")
      .replace(/[ \t]+$/gm, "")
      .replace(/\n{3,}/g, "\n\n")}\n`,
  };
}

/** Prints holes one after the other and remembers what they import. */
class Printer {
  /** The lines that are done, and the one that is not: looking at the whole text for each piece would take its square. */
  #done = "";
  #line = "";
  readonly #imports = new Map<string, ImportSymbol>();
  readonly #declared: ReadonlySet<string>;

  constructor(declared: ReadonlySet<string>) {
    this.#declared = declared;
  }

  get text(): string {
    return this.#done + this.#line;
  }

  print(hole: Hole): void {
    if (isList(hole)) {
      hole.forEach((item, index) => {
        if (index > 0) this.#newline(this.#indentation());
        this.print(item);
      });
      return;
    }
    switch (hole.kind) {
      case "code":
        this.#printCode(hole);
        return;
      case "import":
        this.#write(this.#importName(hole));
        return;
      case "literal":
        this.#printValue(hole.value);
        return;
      case "name":
        this.#write(hole.text);
        return;
      case "comment":
        this.#printComment(hole);
        return;
      case "either":
        this.#printEither(hole);
        return;
    }
  }

  importLines(): string {
    const byModule = new Map<string, ImportSymbol[]>();
    for (const symbol of this.#imports.values()) {
      byModule.set(symbol.module, [...(byModule.get(symbol.module) ?? []), symbol]);
    }
    const modules = [...byModule.keys()].sort(compareModules);
    return modules.map((module) => this.#importLine(module, byModule.get(module) ?? [])).join("\n");
  }

  #importLine(module: string, symbols: readonly ImportSymbol[]): string {
    const onlyTypes = symbols.every((symbol) => symbol.isType);
    const names = symbols
      .map((symbol) => {
        const local = this.#localName(symbol.name);
        const spelled = local === symbol.name ? local : `${symbol.name} as ${local}`;
        return symbol.isType && !onlyTypes ? `type ${spelled}` : spelled;
      })
      .sort((a, b) => compareNames(a.replace(/^type /, ""), b.replace(/^type /, "")));
    const start = onlyTypes ? "import type {" : "import {";
    const line = `${start} ${names.join(", ")} } from ${JSON.stringify(module)};`;
    if (line.length <= WIDTH) return line;
    return `${start}\n${names.map((each) => `  ${each},\n`).join("")}} from ${JSON.stringify(module)};`;
  }

  #importName(symbol: ImportSymbol): string {
    const key = `${symbol.module}#${symbol.name}`;
    const known = this.#imports.get(key);
    if (known === undefined || (known.isType && !symbol.isType)) this.#imports.set(key, symbol);
    return this.#localName(symbol.name);
  }

  #localName(name: string): string {
    if (!this.#declared.has(name)) return name;
    return `gwc${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  }

  #printCode(hole: Code): void {
    const indentation = this.#indentation();
    let skipsLineBreak = false;
    hole.parts.forEach((part) => {
      if (typeof part !== "string") {
        const isEmpty = isList(part) && part.length === 0;
        if (isEmpty && this.#line.trim() === "") skipsLineBreak = true;
        else this.print(part);
        return;
      }
      let text = part;
      if (skipsLineBreak) {
        text = text.replace(/^\n[ \t]*/, "");
        skipsLineBreak = false;
      }
      this.#write(text.replace(/\n/g, `\n${indentation}`));
    });
  }

  #printEither({ line, broken }: Either): void {
    const trial = new Printer(this.#declared);
    trial.print(line);
    const fits = !trial.text.includes("\n") && this.#column() + trial.text.length <= WIDTH;
    this.print(fits ? line : broken);
  }

  #printComment({ text }: Comment): void {
    const indentation = this.#indentation();
    const width = Math.max(20, WIDTH - indentation.length - 3);
    wrap(text, width).forEach((line, index) => {
      if (index > 0) this.#newline(indentation);
      this.#write(`// ${line}`);
    });
  }

  #printValue(value: Printable): void {
    const flat = this.#flat(value);
    if (flat !== undefined && this.#column() + flat.length + 2 <= WIDTH) {
      this.#write(flat);
      return;
    }
    if (isHole(value)) this.print(value);
    else if (isArray(value)) this.#printBroken("[", "]", value, (item) => this.#printValue(item));
    else if (isRecord(value)) this.#printRecord(value);
    else this.#write(flat ?? "");
  }

  #printRecord(value: { readonly [key: string]: Printable | undefined }): void {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    this.#printBroken("{", "}", entries, ([key, item]) => {
      const spelled = propertyName(key);
      const isShorthand = item !== undefined && this.#flat(item) === spelled && isHole(item);
      this.#write(isShorthand ? spelled : `${spelled}: `);
      if (!isShorthand) this.#printValue(item ?? null);
    });
  }

  #printBroken<Item>(
    open: string,
    close: string,
    items: readonly Item[],
    print: (item: Item) => void,
  ): void {
    const outer = this.#indentation();
    this.#write(open);
    for (const item of items) {
      this.#write(`\n${outer}  `);
      print(item);
      this.#write(",");
    }
    this.#write(`\n${outer}${close}`);
  }

  /** The value on one line; undefined when it holds code that spans lines. */
  #flat(value: Printable): string | undefined {
    if (isArray(value)) {
      const items = value.map((item) => this.#flat(item));
      return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
    }
    if (isHole(value)) {
      const inner = new Printer(this.#declared);
      inner.print(value);
      for (const symbol of inner.#imports.values()) this.#importName(symbol);
      return inner.text.includes("\n") ? undefined : inner.text;
    }
    if (isEnvTemplate(value)) return this.#flat(envTemplateText(value.parts));
    if (isRecord(value)) {
      const entries = Object.entries(value).filter(([, item]) => item !== undefined);
      if (entries.length === 0) return "{}";
      const items = entries.map(([key, item]) => {
        const flat = this.#flat(item ?? null);
        if (flat === undefined) return undefined;
        return flat === propertyName(key) && item !== undefined && isHole(item)
          ? flat
          : `${propertyName(key)}: ${flat}`;
      });
      return items.includes(undefined) ? undefined : `{ ${items.join(", ")} }`;
    }
    return typeof value === "string" ? quote(value) : String(value);
  }

  #newline(indentation: string): void {
    this.#write(`\n${indentation}`);
  }

  #write(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      this.#done += this.#line + text.slice(0, end);
      this.#line = "";
    }
    this.#line += text.slice(end);
  }

  #column(): number {
    return this.#line.length;
  }

  #indentation(): string {
    return this.#line.slice(0, this.#line.length - this.#line.trimStart().length);
  }
}

/** A text with variables that are read when the gateway starts: `env("HOST")`, or a template around it. */
function envTemplateText(
  parts: readonly (string | { readonly env: string; readonly fallback?: string })[],
): Code {
  const env = imported("gwc/runtime/process/startup-values", "env");
  const call = (part: { readonly env: string; readonly fallback?: string }): Code =>
    part.fallback === undefined
      ? code`${env}(${literal(part.env)})`
      : code`${env}(${literal(part.env)}, ${literal(part.fallback)})`;
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== "string") return call(only);
  const pieces = parts.map((part) =>
    typeof part === "string"
      ? verbatim(part.replace(/[`\\]|\$\{/g, (found) => `\\${found}`))
      : join([verbatim("${"), call(part), verbatim("}")], ""),
  );
  return join([verbatim("`"), ...pieces, verbatim("`")], "");
}

function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** A property name, quoted unless it is a plain identifier; `__proto__` would set a prototype, so it is computed. */
function propertyName(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key);
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const end = space > width / 2 ? space : width;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  lines.push(rest);
  return lines;
}

/** Plain string order: the same everywhere, whatever the locale. */
function compareNames(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  if (left !== right) return left < right ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Packages first, then the output's own files. */
function compareModules(a: string, b: string): number {
  const [ownA, ownB] = [a.startsWith("."), b.startsWith(".")];
  if (ownA !== ownB) return ownA ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function isList(hole: Hole): hole is readonly Hole[] {
  return Array.isArray(hole);
}

function isArray(value: Printable): value is readonly Printable[] {
  return Array.isArray(value);
}

function isHole(value: Printable): value is Code | ImportSymbol | Name {
  return typeof value === "object" && value !== null && made in value;
}

function isEnvTemplate(value: Printable): value is Extract<Printable, { kind: "env" }> {
  return isRecord(value) && value.kind === "env";
}

function isRecord(
  value: Printable | undefined,
): value is { readonly [key: string]: Printable | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import path from "node:path";
import type { Diagnostics, Origin, Place } from "../../diagnostics/diagnostic.ts";
import type { Host } from "../../host.ts";
import { declarationOf, type ModuleMistake, type PolicyDeclaration } from "./declaration.ts";
import { usesOf } from "./imports.ts";
import { type TypeScript, typescript } from "./typescript.ts";

/** A module that the user wrote, which becomes part of the gateway. */
export interface PolicySource {
  /** Path below the output folder, which is also that below the folder of the configuration: `policies/tenant.ts`. */
  readonly module: string;
  /** Its begin, in a file relative to the working directory. */
  readonly origin: Place;
  readonly text: string;
  /** Imported modules, as written. */
  readonly imports: readonly string[];
  /** Names that its use allows. */
  readonly allow: readonly string[];
}

/** A policy's module with all that it imports from the user's folder. */
export interface ReadPolicy {
  readonly declaration: PolicyDeclaration;
  /** The module itself, then those that it imports. */
  readonly sources: readonly PolicySource[];
}

/** Services needed to read a policy. */
export interface PolicyReading {
  readonly host: Host;
  readonly diagnostics: Diagnostics;
  readonly resolvePath: (name: string, at: Place) => string;
}

/** Folder of policies, next to the configuration. */
const FOLDER = "policies/";

/** Reads a policy's module and all modules that it imports from there; returns `undefined` after mistakes (reported). */
export function readPolicyModule(
  use: string,
  at: Origin,
  allow: readonly string[],
  context: PolicyReading,
): ReadPolicy | undefined {
  const entry = path.posix.normalize(use);
  if (!entry.startsWith(FOLDER) || !entry.endsWith(".ts")) {
    const expected =
      'the path of a TypeScript module in the folder "policies" next to the configuration';
    context.diagnostics.report("bad-format", at, { field: '"use"', expected });
    return undefined;
  }
  const reader = new PolicyReader(typescript().ts, new Set(allow), at, context);
  reader.read(entry, at);
  const { declaration, sources } = reader;
  return reader.isWrong || declaration === undefined ? undefined : { declaration, sources };
}

class PolicyReader {
  readonly sources: PolicySource[] = [];
  declaration: PolicyDeclaration | undefined;
  isWrong = false;
  readonly #typescript: TypeScript;
  readonly #allow: ReadonlySet<string>;
  readonly #at: Origin;
  readonly #context: PolicyReading;

  constructor(
    typescript: TypeScript,
    allow: ReadonlySet<string>,
    at: Origin,
    context: PolicyReading,
  ) {
    this.#typescript = typescript;
    this.#allow = allow;
    this.#at = at;
    this.#context = context;
  }

  /** Reads a module. `place`: the part of the configuration, or of another module, that names it. */
  read(module: string, place: Place): void {
    if (this.sources.some((each) => each.module === module)) return;
    const { host, diagnostics, resolvePath } = this.#context;
    const file = resolvePath(module, this.#at);
    const found = host.readText(file);
    if (found.kind !== "text") {
      this.isWrong = true;
      diagnostics.report("policy-unreadable", place, { file: module, problem: found.problem });
      return;
    }
    const { text } = found;
    const source = this.#typescript.createSourceFile(
      module,
      text,
      this.#typescript.ScriptTarget.ESNext,
      true,
    );
    const { imports, mistakes } = usesOf(source, this.#allow, this.#typescript);
    const isEntry = this.sources.length === 0;
    const origin = placeIn(file, [0, 0]);
    this.sources.push({ module, origin, text, imports, allow: [...this.#allow] });
    for (const each of mistakes) this.#report(file, each);
    if (isEntry) {
      const declared = declarationOf(source, this.#typescript);
      if ("message" in declared) this.#report(file, declared);
      else this.declaration = declared;
    }
    for (const specifier of imports.filter((each) => each.startsWith(".")))
      this.#follow(module, specifier, file, text);
  }

  #follow(module: string, specifier: string, file: string, text: string): void {
    const next = path.posix.join(path.posix.dirname(module), specifier);
    const start = text.indexOf(specifier);
    const range = [start, start + specifier.length] as const;
    if (next.startsWith(FOLDER) && next.endsWith(".ts")) this.read(next, placeIn(file, range));
    else
      this.#report(file, {
        message: 'imported files are TypeScript modules (".ts") in the folder "policies"',
        range,
      });
  }

  #report(file: string, { message, range }: ModuleMistake): void {
    this.isWrong = true;
    this.#context.diagnostics.report("policy-module", placeIn(file, range), { message });
  }
}

/** Returns a place in a module, which is no part of a YAML document. */
export function placeIn(file: string, offsets: readonly [start: number, end: number]): Place {
  return { file: file.split(path.sep).join("/"), document: 0, path: [], offsets };
}

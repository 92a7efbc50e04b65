import { isBuiltin } from "node:module";
import path from "node:path";
import type { Diagnostics, Origin, Place } from "../../diagnostics/diagnostic.ts";
import type { Host } from "../../host.ts";
import { unnamedPackages } from "./bundled-packages.ts";
import { declarationOf, type ModuleMistake, type PolicyDeclaration } from "./declaration.ts";
import { usesOf } from "./imports.ts";
import { packageMistakes } from "./package-powers.ts";
import { POWERS_FILE, publishedPowers } from "./published-powers.ts";
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

/** Folder of policies: next to the configuration, or that of operators in a cluster. */
export const POLICY_FOLDER = "policies/";

/** A policy as named. */
interface NamedPolicy {
  readonly use: string;
  readonly allow: readonly string[];
  /** Whether operators have published it: tenants that name it do not see its code, nor mistakes at their places. */
  readonly isPublished: boolean;
}

/** Reads a policy's module and all modules that it imports from there; returns `undefined` after mistakes (reported). */
export function readPolicyModule(
  { use, allow, isPublished }: NamedPolicy,
  at: Origin,
  context: PolicyReading,
): ReadPolicy | undefined {
  const entry = path.posix.normalize(use);
  if (!entry.startsWith(POLICY_FOLDER) || !entry.endsWith(".ts")) {
    const expected =
      'the path of a TypeScript module in the folder "policies" next to the configuration';
    context.diagnostics.report("bad-format", at, { field: '"use"', expected });
    return undefined;
  }
  const powers = isPublished ? readPowers(entry, at, context) : allow;
  if (powers === undefined) return undefined;
  const reader = new PolicyReader(
    typescript().ts,
    { use, allow: powers, isPublished },
    at,
    context,
  );
  reader.read(entry, at);
  const { declaration, sources } = reader;
  return reader.isWrong || declaration === undefined ? undefined : { declaration, sources };
}

/** Returns the declaration of a policy; `undefined` if its module has mistakes, which are not reported. */
export function readDeclaration(
  { use, isPublished }: Pick<NamedPolicy, "use" | "isPublished">,
  at: Origin,
  context: Omit<PolicyReading, "diagnostics">,
): PolicyDeclaration | undefined {
  const module = path.posix.normalize(use);
  const found = context.host.readText(moduleFile(module, isPublished, at, context));
  if (found.kind !== "text") return undefined;
  const { ts } = typescript();
  const source = ts.createSourceFile(module, found.text, ts.ScriptTarget.ESNext, true);
  const declared = declarationOf(source, ts);
  return "message" in declared ? undefined : declared;
}

/** Returns the file of a module: one that was delivered, or one next to the configuration. */
function moduleFile(
  module: string,
  isPublished: boolean,
  at: Origin,
  { host, resolvePath }: Omit<PolicyReading, "diagnostics">,
): string {
  const isDelivered = isPublished && host.readText(module).kind === "text";
  return isDelivered ? module : resolvePath(module, at);
}

/** Reads the names that operators allow a published policy; returns `undefined` after a mistake (reported). */
function readPowers(
  entry: string,
  at: Origin,
  { host, resolvePath, diagnostics }: PolicyReading,
): readonly string[] | undefined {
  const file = POLICY_FOLDER + POWERS_FILE;
  const delivered = host.readText(file);
  const found = delivered.kind === "text" ? delivered : host.readText(resolvePath(file, at));
  if (found.kind !== "text") return [];
  const powers = publishedPowers(found.text, entry.slice(POLICY_FOLDER.length, -".ts".length));
  if (typeof powers !== "string") return powers;
  diagnostics.report("policy-module", at, { message: powers });
  return undefined;
}

class PolicyReader {
  readonly sources: PolicySource[] = [];
  declaration: PolicyDeclaration | undefined;
  isWrong = false;
  readonly #typescript: TypeScript;
  readonly #allow: ReadonlySet<string>;
  readonly #isPublished: boolean;
  readonly #at: Origin;
  readonly #context: PolicyReading;

  constructor(
    typescript: TypeScript,
    { allow, isPublished }: NamedPolicy,
    at: Origin,
    context: PolicyReading,
  ) {
    this.#typescript = typescript;
    this.#allow = new Set(allow);
    this.#isPublished = isPublished;
    this.#at = at;
    this.#context = context;
  }

  /** Reads a module. `place`: the part of the configuration, or of another module, that names it. */
  read(module: string, place: Place): void {
    if (this.sources.some((each) => each.module === module)) return;
    const { host, diagnostics } = this.#context;
    const file = moduleFile(module, this.#isPublished, this.#at, this.#context);
    const found = host.readText(file);
    if (found.kind !== "text") {
      this.isWrong = true;
      const at = this.#isPublished ? this.#at : place;
      if (this.#isPublished && this.sources.length === 0) {
        const policy = module.slice(POLICY_FOLDER.length, -".ts".length);
        diagnostics.report("unpublished-policy", at, { policy });
      } else diagnostics.report("policy-unreadable", at, { file: module, problem: found.problem });
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
    for (const each of [...mistakes, ...unnamedPackages(text)]) this.#report(file, each);
    if (!this.#isPublished) {
      const folder = path.dirname(path.resolve(file));
      for (const each of packageMistakes(source, folder, this.#allow, this.#typescript))
        this.#report(file, each);
    }
    for (const each of imports) if (this.#isPublished) this.#checkPackage(file, each, text);
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
    if (next.startsWith(POLICY_FOLDER) && next.endsWith(".ts"))
      this.read(next, placeIn(file, range));
    else
      this.#report(file, {
        message: 'imported files are TypeScript modules (".ts") in the folder "policies"',
        hint: next.startsWith(POLICY_FOLDER) ? `write "${withExtension(specifier)}"` : undefined,
        range,
      });
  }

  /** Reports a package: nothing installs those of published policies. */
  #checkPackage(file: string, specifier: string, text: string): void {
    if (specifier.startsWith(".") || specifier === "gwc/policy" || isBuiltin(specifier)) return;
    const start = text.indexOf(specifier);
    const message = `a published policy cannot import the package "${specifier}"`;
    const hint =
      "bundle the package into a module of the folder: `gwc explain guide policies` shows how";
    this.#report(file, { message, hint, range: [start, start + specifier.length] });
  }

  #report(file: string, { message, hint, range }: ModuleMistake): void {
    this.isWrong = true;
    const { diagnostics } = this.#context;
    if (this.#isPublished) {
      const params = { message: `${file}: ${message}`, hint };
      diagnostics.report("policy-module", this.#at, params);
    } else diagnostics.report("policy-module", placeIn(file, range), { message, hint });
  }
}

/** Returns the name of the TypeScript module that an import of other tools leaves out. */
function withExtension(specifier: string): string {
  return `${specifier.replace(/\.[cm]?js$/, "")}.ts`;
}

/** Returns a place in a module, which is no part of a YAML document. */
export function placeIn(file: string, offsets: readonly [start: number, end: number]): Place {
  return { file: file.split(path.sep).join("/"), document: 0, path: [], offsets };
}

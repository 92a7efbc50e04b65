import { type Parsed, parse } from "./1-parse/parse.ts";
import { CachedInput } from "./1-parse/read-files.ts";
import type { KubernetesModel } from "./2-lower/kubernetes/gateway/gateways.ts";
import { CachedManifests } from "./2-lower/kubernetes/routes/cached-manifests.ts";
import { type LowerOptions, lower } from "./2-lower/lower.ts";
import { UnchangedRoutes } from "./2-lower/standalone/unchanged-routes.ts";
import { CachedResolutions } from "./3-resolve/cached-resolutions.ts";
import { resolve } from "./3-resolve/resolve.ts";
import { type ClosedPart, resolveIsolated, type Unwritable } from "./3-resolve/resolve-isolated.ts";
import { policyTypeMistakes } from "./4-emit/check/policy-types.ts";
import type { EmitOptions, Emitted } from "./4-emit/emit.ts";
import { type Diagnostic, isError, placeKey } from "./diagnostics/diagnostic.ts";
import { withoutInlinedOffsets } from "./diagnostics/inlined-places.ts";
import type { SourceFile } from "./diagnostics/source.ts";
import type { FileText, Host } from "./host.ts";
import type { Program } from "./ir/program.ts";
import type { LiteralSecret } from "./model/literal-secrets.ts";

/** Result of the front half of the compiler. */
export interface Checked {
  /** The first program; `undefined` if there are mistakes. */
  readonly program: Program | undefined;
  /** Gateways: one for a standalone file, any number for manifests. Empty if there are mistakes. */
  readonly programs: readonly Program[];
  /** Literal credentials: values of variables that the programs require. */
  readonly literals: readonly LiteralSecret[];
  /** Parts that are closed although no mistake is attributed to them; empty unless mistakes are isolated. */
  readonly closed: readonly ClosedPart[];
  /** Model of the Kubernetes manifests, even with mistakes. */
  readonly kubernetes: KubernetesModel | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly SourceFile[];
  /** Paths of other files that the configuration refers to and the result depends on (key sets). */
  readonly dependencies: readonly string[];
}

/** Options of a check. */
export interface CheckOptions extends LowerOptions {
  /** Whether warnings count as mistakes. */
  readonly isStrict: boolean;
  /** Whether manifests with mistakes in some parts still result in programs without those parts. */
  readonly isIsolating?: boolean;
  /**
   * Whether manifests with mistakes are read as a controller reads them, without the parts that have mistakes. Otherwise
   * they have placeholders there, so that every other mistake is found.
   */
  readonly readsParts?: boolean;
  /** Errors of gwc that emitting the same input has found: their parts are isolated as those with mistakes. */
  readonly bugs?: readonly Diagnostic[];
  /** Tries to write the code of programs: parts without which it can be written are closed. */
  readonly unwritable?: (program: Program, files: readonly SourceFile[]) => readonly Diagnostic[];
}

/** Cached results of a check for the next check of a similar input. */
export class CachedCheck {
  readonly input: CachedInput;
  readonly manifests = new CachedManifests();
  readonly routes = new UnchangedRoutes();
  readonly resolutions = new CachedResolutions();

  /** Creates an empty cache, which holds YAML nodes only for `input` with nodes. */
  constructor(input = new CachedInput()) {
    this.input = input;
  }
}

/** Parses, lowers and resolves. `gwc check`, `build` and `run` all use this function, so that they agree. */
export function checkFiles(
  paths: readonly string[],
  host: Host,
  options: CheckOptions,
  cached?: CachedCheck,
): Checked {
  const read = new Map<string, FileText>();
  // Reads each file once per run: many routes may refer to the same file, and all see the same state of it.
  const recording: Host = {
    ...host,
    readText: (file) => {
      const text = read.get(file) ?? host.readText(file);
      read.set(file, text);
      return text;
    },
  };
  const parsed = parse(paths, recording, cached?.input);
  const readsParts = options.isIsolating === true || options.readsParts === true;
  const repaired = readsParts ? undefined : repairedManifests(parsed.value);
  const checked = repaired ?? parsed.value;
  const lowered = checked && lower(checked, options, cached);
  const input = checked && { ...checked, isTolerant: options.isIsolating === true };
  const resolved =
    input && lowered?.value && resolve(lowered.value, input, recording, cached?.resolutions);
  const later = [lowered, resolved].flatMap((phase) => phase?.diagnostics ?? []);
  const found = [
    ...parsed.diagnostics,
    ...(repaired && parsed.value
      ? withErrors(laterOf(parsed.value, options, recording), later)
      : later),
    // Operators check what they publish; its mistakes must not stop a cluster.
    ...(options.isIsolating === true ? [] : policyTypeMistakes(resolved?.value?.programs ?? [])),
  ];
  const inlined = [
    parsed.value?.kind === "standalone" ? parsed.value.inlined : undefined,
    ...(resolved?.value?.inlined ?? []),
  ];
  const diagnostics = [...inlined.reduce(withoutInlinedOffsets, found), ...(options.bugs ?? [])];
  const errors = diagnostics.filter((each) => isError(each, options.isStrict));
  const { unwritable } = options;
  const unwritten: Unwritable | undefined =
    unwritable && ((program) => unwritable(program, parsed.files));
  const isWhole = errors.length === 0 && unwritten === undefined;
  const isolated =
    !isWhole && options.isIsolating === true && input && lowered?.value
      ? resolveIsolated(lowered.value, errors, input, recording, {
          unwritable: unwritten,
          cache: cached?.resolutions,
        })
      : undefined;
  const served = isWhole ? resolved?.value : isolated;
  const { programs = [], literals = [] } = served ?? {};
  return {
    program: programs[0],
    programs,
    literals,
    closed: isolated?.closed ?? [],
    kubernetes: lowered?.value?.kubernetes,
    diagnostics: [...diagnostics, ...(isolated?.bugs ?? [])],
    files: [...parsed.files, ...mistakenModules(diagnostics, parsed.files, read)],
    dependencies: [...read.keys()],
  };
}

/** Returns what later phases find in manifests without the parts that have mistakes. */
function laterOf(parsed: Parsed, options: CheckOptions, host: Host): readonly Diagnostic[] {
  const marked = { ...parsed, isMarked: true };
  const lowered = lower(marked, options);
  const resolved = lowered.value && resolve(lowered.value, marked, host);
  return [lowered, resolved].flatMap((phase) => phase?.diagnostics ?? []);
}

/** Adds the errors that are found next to placeholders. Their warnings may be about the placeholders. */
function withErrors(
  found: readonly Diagnostic[],
  more: readonly Diagnostic[],
): readonly Diagnostic[] {
  const keyOf = ({ code, at }: Diagnostic) => `${code} ${placeKey(at)}`;
  const known = new Set(found.map(keyOf));
  return [...found, ...more.filter((each) => isError(each, false) && !known.has(keyOf(each)))];
}

/** Returns manifests with placeholders in place of parts with mistakes; `undefined` if there are none. */
function repairedManifests(parsed: Parsed | undefined): Parsed | undefined {
  if (parsed?.kind !== "kubernetes" || !parsed.manifests.some((each) => each.isPartial))
    return undefined;
  return { ...parsed, manifests: parsed.repaired(), isMarked: true };
}

/** Returns the modules of users that have mistakes, which findings show lines of. */
function mistakenModules(
  diagnostics: readonly Diagnostic[],
  files: readonly SourceFile[],
  read: ReadonlyMap<string, FileText>,
): readonly SourceFile[] {
  const inputs = new Set(files.map(({ name }) => name));
  const names = new Set(diagnostics.map(({ at }) => at.file).filter((name) => !inputs.has(name)));
  return [...names].flatMap((name) => {
    const found = read.get(name);
    return found?.kind === "text"
      ? [{ name, path: name, text: found.text, documents: [], data: [] }]
      : [];
  });
}

/** Emits a checked program. The emitter is loaded on demand, so that checking stays fast. */
export async function emitProgram(
  program: Program,
  files: readonly SourceFile[],
  options: EmitOptions,
): Promise<Emitted> {
  const { emit } = await import("./4-emit/emit.ts");
  return emit(program, files, options);
}

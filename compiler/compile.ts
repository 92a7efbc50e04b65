import { parse } from "./1-parse/parse.ts";
import { KeptInput } from "./1-parse/read-files.ts";
import type { KubernetesModel } from "./2-lower/kubernetes/gateway/gateways.ts";
import { KeptRoutes } from "./2-lower/kubernetes/routes/kept-routes.ts";
import { type LowerOptions, lower } from "./2-lower/lower.ts";
import { KeptResolutions } from "./3-resolve/kept-resolutions.ts";
import { resolve } from "./3-resolve/resolve.ts";
import { type ClosedPart, resolveIsolated } from "./3-resolve/resolve-isolated.ts";
import type { EmitOptions, Emitted } from "./4-emit/emit.ts";
import { type Diagnostic, isError } from "./diagnostics/diagnostic.ts";
import type { SourceFile } from "./diagnostics/source.ts";
import type { FileText, Host } from "./host.ts";
import type { Program } from "./ir/program.ts";
import type { LiteralSecret } from "./model/literal-secrets.ts";

/** What the front half of the compiler makes of its input. */
export interface Checked {
  /** There unless a mistake was found; the first one when there are several. */
  readonly program: Program | undefined;
  /** The gateways: one for a standalone file, any number for Kubernetes manifests. Empty when a mistake was found. */
  readonly programs: readonly Program[];
  /** Credentials that are written out: values of variables that the programs ask for. */
  readonly literals: readonly LiteralSecret[];
  /** What is closed though the mistake is not known to be its own; empty unless mistakes are isolated. */
  readonly closed: readonly ClosedPart[];
  /** What is known of Kubernetes manifests, mistakes or not. */
  readonly kubernetes: KubernetesModel | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly SourceFile[];
  /** Other files that the configuration names and the result depends on (key sets), as paths. */
  readonly dependencies: readonly string[];
}

/** What `check` is asked to do. */
export interface CheckOptions extends LowerOptions {
  /** Warnings count as mistakes. */
  readonly isStrict: boolean;
  /** A part of manifests with mistakes does not keep the rest from being served: there are programs without it. */
  readonly isIsolating?: boolean;
}

/** What one check leaves to the next of a like input: most of it is the same, and is not found out again. */
export class KeptCheck {
  readonly input = new KeptInput();
  readonly routes = new KeptRoutes();
  readonly resolutions = new KeptResolutions();
}

/** Parses, lowers and resolves; `gwc check`, `build` and `run` all ask this one function, so they have one verdict. */
export function checkFiles(
  paths: readonly string[],
  host: Host,
  options: CheckOptions,
  kept?: KeptCheck,
): Checked {
  const read = new Map<string, FileText>();
  // One state of each file for the whole run, and many routes may name the same one.
  const recording: Host = {
    ...host,
    readText: (file) => {
      const text = read.get(file) ?? host.readText(file);
      read.set(file, text);
      return text;
    },
  };
  const parsed = parse(paths, recording, kept?.input);
  const lowered = parsed.value && lower(parsed.value, options, kept?.routes);
  const resolved =
    parsed.value &&
    lowered?.value &&
    resolve(lowered.value, parsed.value, recording, kept?.resolutions);
  const diagnostics = [parsed, lowered, resolved].flatMap((phase) => phase?.diagnostics ?? []);
  const errors = diagnostics.filter((each) => isError(each, options.isStrict));
  const isolated =
    errors.length > 0 && options.isIsolating === true && parsed.value && lowered?.value
      ? resolveIsolated(lowered.value, errors, parsed.value, recording)
      : undefined;
  const served = errors.length === 0 ? resolved?.value : isolated;
  const { programs = [], literals = [] } = served ?? {};
  return {
    program: programs[0],
    programs,
    literals,
    closed: isolated?.closed ?? [],
    kubernetes: lowered?.value?.kubernetes,
    diagnostics,
    files: parsed.files,
    dependencies: [...read.keys()],
  };
}

/** Emits a program that was checked. What writes is loaded for those who ask for it: checking stays fast. */
export async function emitProgram(
  program: Program,
  files: readonly SourceFile[],
  options: EmitOptions,
): Promise<Emitted> {
  const { emit } = await import("./4-emit/emit.ts");
  return emit(program, files, options);
}

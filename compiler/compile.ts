import { parse } from "./1-parse/parse.ts";
import { resolve } from "./2-resolve/resolve.ts";
import type { Diagnostic } from "./diagnostics.ts";
import type { Host } from "./host.ts";
import type { Program } from "./ir.ts";
import { messageOf } from "./messages.ts";
import type { SourceFile } from "./source.ts";

/** What the front half of the compiler makes of its input. */
export interface Checked {
  /** There unless a mistake was found. */
  readonly program: Program | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly SourceFile[];
  /** Other files that the configuration names and the result depends on (key sets), as paths. */
  readonly dependencies: readonly string[];
}

/** What `check` is asked to do. */
export interface CheckOptions {
  /** What the gateway is called. */
  readonly name: string;
  /** Warnings count as mistakes. */
  readonly isStrict: boolean;
}

/** Parses and resolves; `gwc check`, `build` and `run` all ask this one function, so they have one verdict. */
export function check(paths: readonly string[], host: Host, options: CheckOptions): Checked {
  const dependencies = new Set<string>();
  const recording: Host = {
    ...host,
    readText: (file) => {
      dependencies.add(file);
      return host.readText(file);
    },
  };
  const parsed = parse(paths, recording);
  const resolved =
    parsed.value === undefined
      ? { value: undefined, diagnostics: [] }
      : resolve(parsed.value, options.name, recording);
  const diagnostics = [...parsed.diagnostics, ...resolved.diagnostics];
  const isRefused = diagnostics.some((each) => isError(each, options.isStrict));
  return {
    program: isRefused ? undefined : resolved.value,
    diagnostics,
    files: parsed.files,
    dependencies: [...dependencies],
  };
}

/** Whether a diagnostic stops a build. */
export function isError({ code }: Diagnostic, isStrict: boolean): boolean {
  const { severity } = messageOf(code);
  return severity === "error" || (isStrict && severity === "warning");
}

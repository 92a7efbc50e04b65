import { type Diagnostic, isError } from "../../../compiler/diagnostics/diagnostic.ts";
import type { Program } from "../../../compiler/ir/program.ts";
import type { LiteralSecret } from "../../../compiler/model/literal-secrets.ts";

/** Result of a configuration: the generated text, unless there is a mistake. */
export interface Outcome {
  readonly text: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The subject of the text. */
  readonly program: Program | undefined;
  readonly literals: readonly LiteralSecret[];
}

/** The diagnostics and the output of a configuration. */
export interface Found {
  readonly diagnostics: readonly Diagnostic[];
  readonly programs: readonly Program[];
  readonly literals: readonly LiteralSecret[];
}

/**
 * The outcome of a configuration in which `parsed` was found when it was read. Most that are tried have a mistake there:
 * what else there is to `find` is looked for when somebody asks.
 */
export function outcomeOf(
  parsed: readonly Diagnostic[],
  find: () => Found,
  write: (program: Program) => string,
): Outcome {
  let found: Found | undefined;
  const whole = () => {
    found ??= find();
    return found;
  };
  const isRefused = parsed.some(isMistake) || whole().diagnostics.some(isMistake);
  const program = isRefused ? undefined : whole().programs[0];
  const literals = isRefused ? [] : whole().literals;
  return {
    text: program === undefined ? undefined : write(program) + JSON.stringify(literals),
    program,
    literals,
    get diagnostics() {
      return [...parsed, ...whole().diagnostics];
    },
  };
}

function isMistake(diagnostic: Diagnostic): boolean {
  return isError(diagnostic, false);
}

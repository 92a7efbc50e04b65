import { withCustomFunctions } from "../../../compiler/1-parse/custom-functions.ts";
import type { Parsed } from "../../../compiler/1-parse/parse.ts";
import { standaloneSchema } from "../../../compiler/1-parse/standalone/standalone.ts";
import { lower } from "../../../compiler/2-lower/lower.ts";
import { resolve } from "../../../compiler/3-resolve/resolve.ts";
import { emitModules } from "../../../compiler/4-emit/modules.ts";
import { type ConfigPath, Diagnostics } from "../../../compiler/diagnostics/diagnostic.ts";
import { type Host, memoryHost } from "../../../compiler/host.ts";
import type { Program } from "../../../compiler/ir/program.ts";
import type { ConfigValue, ReadValue } from "../../../compiler/schema/config-values.ts";
import { unknownNames } from "../../../compiler/schema/unknown-names.ts";
import { validator } from "../../../compiler/schema/validate.ts";
import { type Found, type Outcome, outcomeOf } from "./outcome.ts";

/** Diagnostics of input that could not be read. */
const NOTHING: Found = { diagnostics: [], programs: [], literals: [] };

/**
 * Compiles standalone files that are given as data, in this process and without a bundle. If `examples` have every field
 * of theirs, they share one validator; otherwise each has its own, as in a check.
 */
export function fileCompiler(
  files: Readonly<Record<string, string>>,
  examples?: readonly ConfigValue[],
): (config: unknown) => Outcome {
  const schema = standaloneSchema();
  const shared = examples && validator(schema, examples);
  const host = memoryHost(files);
  const origin = { file: "gateway.yaml", document: 0, path: [] };
  return (config) => {
    const diagnostics = new Diagnostics();
    const value = structuredClone(config) as ConfigValue;
    const given = { value, envTemplates: variablesIn(value), expanded: [] };
    const { read } = withCustomFunctions(given, schema, origin, diagnostics);
    const { repaired } = shared ?? validator(schema, [value]);
    const { value: file, broken } = repaired(read, origin, diagnostics);
    if (file === undefined) return outcomeOf(diagnostics.list, () => NOTHING, textOf);
    const input = { files: [], inputs: [], folder: "." };
    const isUnknownName = unknownNames(value, schema, broken);
    const parsed = { kind: "standalone", file, origin, broken, isUnknownName, ...input } as const;
    return outcomeOf(diagnostics.list, () => resolved(parsed, host), textOf);
  };
}

/** The diagnostics and the output of a configuration that was read. */
export function resolved(parsed: Parsed, host: Host): Found {
  const lowered = lower(parsed, { name: "test" });
  const whole = lowered.value && resolve(lowered.value, parsed, host);
  return {
    diagnostics: [...lowered.diagnostics, ...(whole?.diagnostics ?? [])],
    programs: whole?.value?.programs ?? [],
    literals: whole?.value?.literals ?? [],
  };
}

/** The texts that are a variable: `${NAME}`. */
function variablesIn(value: unknown, path: ConfigPath = []): ReadValue["envTemplates"] {
  if (typeof value === "string") {
    const [, env] = /^\$\{(\w+)\}$/.exec(value) ?? [];
    return env === undefined ? [] : [{ path, text: { kind: "env", parts: [{ env }] } }];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    variablesIn(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

/** Everything that a build writes except the bundle, and the ports that `gwc run` opens in addition. */
export function textOf(program: Program): string {
  const modules = emitModules(program, "none", []).map(({ path, text }) => `${path}\n${text}`);
  return [program.name, JSON.stringify(program.process), ...modules].join("\n");
}

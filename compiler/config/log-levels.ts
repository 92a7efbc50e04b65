import type { LogLevel, LogLevels } from "../../runtime/telemetry/logs/log-level.ts";
import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";

/** Log levels of one place in the configuration: `info,request=warn`, or a list of such strings. */
export type LevelsConfig = readonly { readonly text: string; readonly origin: Origin }[];

const LEVELS: readonly LogLevel[] = ["off", "error", "warn", "info", "debug", "trace"];

/**
 * Parts of the log by module name. Names of agentgateway's modules and libraries refer to the parts that do their work
 * here.
 */
const MODULES: Readonly<Record<string, readonly (keyof LogLevels)[]>> = {
  request: ["request"],
  gateway: ["gateway"],
  connection: ["connection"],
  gwc: ["gateway", "connection"],
  agentgateway: ["gateway", "connection"],
  "agentgateway::proxy": ["connection"],
  "agentgateway::transport": ["connection"],
  hyper: ["connection"],
  hyper_util: ["connection"],
  h2: ["connection"],
  rustls: ["connection"],
};

const DEFAULT: LogLevels = { request: "info", gateway: "info", connection: "info" };

/** Resolves the levels of the last place that sets any; `undefined` if none does. Reports mistakes. */
export function resolveLevels(
  configs: readonly LevelsConfig[],
  diagnostics: Diagnostics,
): LogLevels | undefined {
  return configs.map((config) => readLevels(config, diagnostics)).at(-1);
}

/** Parses RUST_LOG: directives separated by commas, `LEVEL` or `MODULE=LEVEL`. The longest matching module is used. */
function readLevels(config: LevelsConfig, diagnostics: Diagnostics): LogLevels {
  const directives = config.flatMap(({ text, origin }) =>
    text
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "")
      .map((directive) => readDirective(directive, origin, diagnostics)),
  );
  const sorted = directives
    .filter((directive) => directive !== undefined)
    .toSorted((a, b) => a.module.length - b.module.length);
  const levels = sorted.flatMap(({ parts, level }) => parts.map((part) => [part, level]));
  return { ...DEFAULT, ...Object.fromEntries(levels) };
}

interface Directive {
  /** Name of a module; empty for all. */
  readonly module: string;
  readonly parts: readonly (keyof LogLevels)[];
  readonly level: LogLevel;
}

function readDirective(
  directive: string,
  origin: Origin,
  diagnostics: Diagnostics,
): Directive | undefined {
  const [first = "", second] = directive.split("=").map((word) => word.trim());
  const isModule = second === undefined && Object.hasOwn(MODULES, first);
  const word = isModule ? "trace" : (second ?? first);
  const level = LEVELS.find((each) => each === word.toLowerCase());
  const module = second === undefined && !isModule ? "" : first;
  const parts = module === "" ? (["request", "gateway", "connection"] as const) : MODULES[module];
  if (level === undefined) {
    diagnostics.report("log-level", origin, { word, levels: LEVELS.join(", ") });
    return undefined;
  }
  if (parts === undefined) {
    const known = Object.keys(MODULES);
    const suggestion = suggest(module, known);
    diagnostics.report("log-module", origin, { module, suggestion, known: known.join(", ") });
    return undefined;
  }
  return { module, parts, level };
}

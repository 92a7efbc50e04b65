/** Minimum severity of the lines that are written. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug" | "trace";

/** The level of each part of the log. */
export interface LogLevels {
  /** The level of request lines, which are logged at `info`. */
  readonly request: LogLevel;
  /** The level of messages of the process: ports, files, draining. */
  readonly gateway: LogLevel;
  /** The level of messages about aborted connections, which are logged at `debug`. */
  readonly connection: LogLevel;
}

/** All levels in ascending order of verbosity. */
const ORDER: readonly LogLevel[] = ["off", "error", "warn", "info", "debug", "trace"];

/** Whether a level includes lines of another level. */
export function isLevelEnabled(level: LogLevel, line: LogLevel): boolean {
  return ORDER.indexOf(line) <= ORDER.indexOf(level);
}

/**
 * Parses levels such as `info` or `warn,request=info`; parts that are not named keep their level. Returns `undefined` if a
 * level is unknown. `other` is called with unknown parts.
 */
export function readLevels(
  text: string,
  levels: LogLevels,
  other: (name: string) => void,
): LogLevels | undefined {
  let read = levels;
  // A named part overrides the level of all parts.
  const directives = text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  for (const directive of directives.toSorted((a, b) => depth(a) - depth(b))) {
    const [first = "", second] = directive.split("=");
    const level = levelOf(second ?? first);
    if (level === undefined) return undefined;
    const parts = second === undefined ? ALL : partsOf(first.trim());
    if (parts.length === 0) other(first.trim());
    for (const part of parts) read = { ...read, [part]: level };
  }
  return read;
}

const ALL: readonly (keyof LogLevels)[] = ["request", "gateway", "connection"];

/** The program's name stands for its own messages, not for requests. */
function partsOf(name: string): readonly (keyof LogLevels)[] {
  if (name === "gwc" || name === "agentgateway") return ["gateway", "connection"];
  return ALL.filter((part) => part === name);
}

/** Sort order: 0 for all parts, 1 for the program, 2 for one part. */
function depth(directive: string): number {
  if (!directive.includes("=")) return 0;
  return /^(gwc|agentgateway)\s*=/.test(directive) ? 1 : 2;
}

function levelOf(name: string): LogLevel | undefined {
  return ORDER.find((level) => level === name.trim().toLowerCase());
}

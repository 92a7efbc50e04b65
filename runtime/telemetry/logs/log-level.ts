/** How much of a part of the log is written: what is at least as grave. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug" | "trace";

/** The level of each part of the log. */
export interface LogLevels {
  /** Lines of requests, which are at `info`. */
  readonly request: LogLevel;
  /** What the process says of itself: ports, files, the drain. */
  readonly gateway: LogLevel;
  /** Why connections were broken off; at `debug`. */
  readonly connection: LogLevel;
}

/** Every level, the least first. */
const ORDER: readonly LogLevel[] = ["off", "error", "warn", "info", "debug", "trace"];

/** Whether a level lets lines of another one through. */
export function isLevelEnabled(level: LogLevel, line: LogLevel): boolean {
  return ORDER.indexOf(line) <= ORDER.indexOf(level);
}

/**
 * The levels of a text such as `info` or `warn,request=info`; parts that it does not name keep theirs. Undefined when a
 * word is no level. `other` gets the names that are no parts.
 */
export function readLevels(
  text: string,
  levels: LogLevels,
  other: (name: string) => void,
): LogLevels | undefined {
  let read = levels;
  // A part that is named counts over the level of all.
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

/** The name of the program is all that it says of itself. */
function partsOf(name: string): readonly (keyof LogLevels)[] {
  if (name === "gwc" || name === "agentgateway") return ["gateway", "connection"];
  return ALL.filter((part) => part === name);
}

/** 0: all; 1: the program; 2: a part of it. */
function depth(directive: string): number {
  if (!directive.includes("=")) return 0;
  return /^(gwc|agentgateway)\s*=/.test(directive) ? 1 : 2;
}

function levelOf(name: string): LogLevel | undefined {
  return ORDER.find((level) => level === name.trim().toLowerCase());
}

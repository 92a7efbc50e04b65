import path from "node:path";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Text } from "../../model/texts.ts";

/** Commands that fetch and run a package: their options with a value, and those that name the package. */
const RUNNERS: Readonly<Record<string, Runner>> = {
  npx: { withValue: ["-c", "--call", "-w", "--workspace"], withPackage: ["-p", "--package"] },
  "npm exec": { withValue: ["-c", "--call", "-w", "--workspace"], withPackage: ["--package"] },
  bunx: { withValue: [], withPackage: ["-p", "--package"] },
  "pnpm dlx": { withValue: [], withPackage: ["--package"] },
  "yarn dlx": { withValue: [], withPackage: ["-p", "--package"] },
  uvx: { withValue: ["--python", "-p", "--index", "--with"], withPackage: ["--from"] },
  "uv tool run": { withValue: ["--python", "-p", "--index", "--with"], withPackage: ["--from"] },
};

interface Runner {
  readonly withValue: readonly string[];
  readonly withPackage: readonly string[];
}

/**
 * Reports a command line in place of a command: no file in PATH has a space in its name. `origin` is that of
 * `stdio`.
 */
export function checkCommand(command: string, origin: Origin, diagnostics: Diagnostics): void {
  const [first = "", ...rest] = command.trim().split(/\s+/);
  if (rest.length === 0 || first.includes("/")) return;
  diagnostics.report("command-line", childOf(origin, "cmd"), { command: first });
}

/**
 * Notes a package without a version, whose latest version would be fetched when the server starts. `origin` is
 * that of `stdio`.
 */
export function checkPinned(
  command: string,
  args: readonly Text[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const words = [path.posix.basename(command), ...args];
  const named = Object.keys(RUNNERS).find((each) =>
    each.split(" ").every((word, index) => words[index] === word),
  );
  const runner = RUNNERS[named ?? ""];
  if (named === undefined || runner === undefined) return;
  const found = fetchedPackage(args, runner, named.split(" ").length - 1);
  if (found === undefined || isPinned(found.name)) return;
  const { name, at } = found;
  const stem = name.replace(/(?<=.)@[^/@]*$/, "");
  diagnostics.report("unpinned-package", childOf(origin, "args", at), { name, stem });
}

/** Syntax of shells at places where it is meant as such: `~/docs`, `|`, `2>&1`, `$(date)`. */
const OF_SHELLS = /^~(?:\/|$)|\$\(|`|^(?:\||\|\||&&|&|;|[0-9]?>{1,2}(?:&[0-9])?|<)$/;

/** Reports arguments that only a shell would expand: the command is started without one. `origin` is that of `stdio`. */
export function checkShellSyntax(
  command: string,
  args: readonly Text[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  if (/^(?:ba|z|k|da|a|fi)?sh$/.test(path.posix.basename(command))) return;
  for (const [at, arg] of args.entries()) {
    const [found] = typeof arg === "string" ? (OF_SHELLS.exec(arg) ?? []) : [];
    if (found === undefined) continue;
    const instead = found.startsWith("~") ? "${HOME}" : undefined;
    diagnostics.report("shell-syntax", childOf(origin, "args", at), { found, instead });
  }
}

/** Returns the package named by the arguments from `start` on: after its option, or else the first non-option. */
function fetchedPackage(
  args: readonly Text[],
  { withValue, withPackage }: Runner,
  start: number,
): { readonly name: string; readonly at: number } | undefined {
  for (let at = start; at < args.length; at++) {
    const arg = args[at];
    if (typeof arg !== "string") return undefined;
    const [option = "", value] = arg.split(/=(.*)/s);
    if (withPackage.includes(arg)) {
      const name = args[at + 1];
      return typeof name === "string" ? { name, at: at + 1 } : undefined;
    }
    if (withPackage.includes(option) && value !== undefined) return { name: value, at };
    if (withValue.includes(arg)) at++;
    else if (!arg.startsWith("-")) return { name: arg, at };
  }
  return undefined;
}

/** Whether a package has a version (`name@1.2.3`, `name==1.2.3`) or a commit, or is not from a registry. */
function isPinned(name: string): boolean {
  return /^(\.{0,2}\/|[a-z+]+:)/i.test(name) || /.(@v?|==)\d+\.\d+/.test(name);
}

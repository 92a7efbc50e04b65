import path from "node:path";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Text } from "../../model/texts.ts";

/** Commands that fetch a package and run it: their options with a value, and those that name the package. */
const RUNNERS: Readonly<Record<string, Runner>> = {
  npx: { withValue: ["-c", "--call", "-w", "--workspace"], withPackage: ["-p", "--package"] },
  bunx: { withValue: [], withPackage: ["-p", "--package"] },
  uvx: { withValue: ["--python", "-p", "--index", "--with"], withPackage: ["--from"] },
};

interface Runner {
  readonly withValue: readonly string[];
  readonly withPackage: readonly string[];
}

/**
 * Refuses a whole command line where the command alone is wanted: no file on PATH has a space in its name. `origin`: of
 * `stdio`.
 */
export function checkCommand(command: string, origin: Origin, diagnostics: Diagnostics): void {
  const [first = "", ...rest] = command.trim().split(/\s+/);
  if (rest.length === 0 || first.includes("/")) return;
  diagnostics.report("command-line", childOf(origin, "cmd"), { command: first });
}

/** Notes a package that is fetched in whatever version is the newest when the server starts. `origin`: of `stdio`. */
export function checkPinned(
  command: string,
  args: readonly Text[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const runner = RUNNERS[path.posix.basename(command)];
  const at = runner === undefined ? -1 : packageIndex(args, runner);
  const name = args[at];
  if (typeof name !== "string" || isPinned(name)) return;
  const stem = name.replace(/(?<=.)@[^/@]*$/, "");
  diagnostics.report("unpinned-package", childOf(origin, "args", at), { name, stem });
}

/** Where the arguments name the package: after its option, else the first that is no option. */
function packageIndex(args: readonly Text[], { withValue, withPackage }: Runner): number {
  for (let index = 0; index < args.length; index++) {
    const arg = args[index];
    if (typeof arg !== "string") return -1;
    if (withPackage.includes(arg)) return index + 1;
    if (withValue.includes(arg)) index++;
    else if (!arg.startsWith("-")) return index;
  }
  return -1;
}

/** A version (`name@1.2.3`, `name==1.2.3`), a commit, or something else than a package of a registry. */
function isPinned(name: string): boolean {
  return /^(\.{0,2}\/|[a-z+]+:)/i.test(name) || /.(@v?|==)\d+\.\d+/.test(name);
}

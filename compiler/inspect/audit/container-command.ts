import path from "node:path";
import type { Text } from "../../model/texts.ts";

/** Container runtimes with Docker's command line. */
const RUNTIMES: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl", "finch"]);

/** Global options without a value. */
const GLOBAL_FLAGS: ReadonlySet<string> = new Set(["debug", "remote", "tls", "tlsverify"]);
const GLOBAL_LETTERS = "Dr";

/** Options of `run` without a value; all others take one. */
const RUN_FLAGS: ReadonlySet<string> = new Set([
  ...["detach", "disable-content-trust", "env-host", "help", "init", "interactive"],
  ...["no-healthcheck", "no-hostname", "no-hosts", "oom-kill-disable", "privileged", "publish-all"],
  ...[
    "quiet",
    "read-only",
    "read-only-tmpfs",
    "replace",
    "rm",
    "rmi",
    "tls-verify",
    "tty",
    "unsetenv-all",
  ],
  ...["sig-proxy", "use-api-socket"],
]);
const RUN_LETTERS = "diqtP";

/** Returns the index of the argument with the image: 4 for `docker run -i --rm -e A IMAGE x`, counted after `docker`. */
export function startedImageAt(command: string, args: readonly Text[]): number | undefined {
  if (!RUNTIMES.has(path.posix.basename(command))) return undefined;
  let at = firstWord(args, 0, GLOBAL_FLAGS, GLOBAL_LETTERS);
  if (args[at] === "container") at++;
  if (args[at] !== "run") return undefined;
  const image = firstWord(args, at + 1, RUN_FLAGS, RUN_LETTERS);
  return image < args.length ? image : undefined;
}

/** Returns the index of the first argument from `start` that is neither an option nor an option's value. */
function firstWord(
  args: readonly Text[],
  start: number,
  flags: ReadonlySet<string>,
  letters: string,
): number {
  let index = start;
  for (; index < args.length; index++) {
    const arg = args[index];
    // A string with environment variables is taken for a word, as options have none.
    if (typeof arg !== "string" || !arg.startsWith("-") || arg === "-") return index;
    if (arg === "--") return index + 1;
    if (takesNext(arg, flags, letters)) index++;
  }
  return index;
}

/** Whether the value of an option is the next argument: `--env A`, `-e A`, `-ie A`; not `--env=A`, `-eA`, `-it`. */
function takesNext(option: string, flags: ReadonlySet<string>, letters: string): boolean {
  if (option.startsWith("--")) return !option.includes("=") && !flags.has(option.slice(2));
  const firstWithValue = [...option.slice(1)].findIndex((letter) => !letters.includes(letter));
  return firstWithValue === option.length - 2;
}

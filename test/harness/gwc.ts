import { spawnSync } from "node:child_process";
import path from "node:path";
import { inject } from "vitest";
import { ownPackage } from "./own-package.ts";
import { root } from "./root.ts";
import { TestProcess } from "./test-process.ts";

/** Result of a finished `gwc`. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Working directory and variables of a call of `gwc`. */
export interface Situation {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds after which it is killed: where it might never end. */
  readonly timeout?: number;
}

/** The one that people install: it begins sooner than the sources do. */
export const executable: string = path.join(
  ownPackage(inject("sourceDigest")),
  "compiler",
  "gwc.mjs",
);

/**
 * Runs a command in this process, because most of the time of a `gwc` process is loading the compiler. The command sees
 * as much of the world as cli.ts would show it.
 */
export async function gwc(argv: readonly string[], situation: Situation = {}): Promise<Finished> {
  const [{ perform }, { takesColors }, { realHost }] = await Promise.all([
    import("../../compiler/commands/perform.ts"),
    import("../../compiler/diagnostics/report/colors.ts"),
    import("../../compiler/host.ts"),
    // esbuild remembers the folder it is loaded in, and resolves nothing once that folder is gone: it must not be the
    // temporary folder of a command.
    import("esbuild"),
  ]);
  const before = { folder: process.cwd(), env: process.env };
  const env = { ...process.env, ...environment(situation) };
  process.chdir(situation.cwd ?? root);
  // A command may set variables for servers that it starts.
  process.env = env;
  const printed: string[] = [];
  try {
    const isColored = takesColors(false, env);
    const result = await perform(argv, {
      host: realHost(env),
      isColored: { stdout: isColored, stderr: isColored },
      isTerminal: { stdout: false, stderr: false },
      columns: 80,
      progress: () => {},
      print: (text) => printed.push(text),
    });
    const { exitCode, stdout = "", stderr = "" } = result;
    return { code: exitCode, stdout, stderr: printed.join("") + stderr };
  } finally {
    process.env = before.env;
    process.chdir(before.folder);
  }
}

/** Calls `gwc` as a user does, as a process of its own, and waits for its end. */
export function installedGwc(argv: readonly string[], situation: Situation = {}): Finished {
  const { status, stdout, stderr } = spawnSync(process.execPath, [executable, ...argv], {
    cwd: situation.cwd ?? root,
    env: { ...process.env, ...environment(situation) },
    encoding: "utf8",
    timeout: situation.timeout,
    // the schema of the file has more than the default of 1 MiB
    maxBuffer: 64 * 1024 * 1024,
  });
  return { code: status, stdout, stderr };
}

/** The caller's environment without what changes how gwc writes. */
function environment({ env = {} }: Situation): Readonly<Record<string, string | undefined>> {
  const unset = ["NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "ADMIN_ADDR"];
  return { ...Object.fromEntries(unset.map((name) => [name, undefined])), ...env };
}

/** A running `gwc`, such as `gwc run`. */
export class GwcProcess extends TestProcess {
  constructor(argv: readonly string[], situation: Situation = {}) {
    super(process.execPath, [executable, ...argv], {
      cwd: situation.cwd ?? root,
      env: environment(situation),
    });
  }
}

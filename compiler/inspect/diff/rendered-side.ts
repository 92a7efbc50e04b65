import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { printable } from "../../diagnostics/report/display-width.ts";
import type { Host } from "../../host.ts";

/** Name of rendered manifests in messages; it is no file. */
export const RENDERED = "rendered.yaml";

/** Rendered manifests, or the reason why there are none. */
export type Rendering =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: string };

/** Splits a command into words; quotes group them. Returns a problem if it needs a shell. */
export function commandWords(command: string): readonly string[] | { readonly problem: string } {
  const words: string[] = [];
  const token = /\s*(?:((?:[^\s"'\\|&;<>()$`*?]|"[^"$`\\]*"|'[^']*')+)|(\S))/gy;
  for (const [, word, other] of command.trim().matchAll(token)) {
    if (word === undefined)
      return {
        problem: `"${printable(other ?? "")}" needs a shell, and the command runs without one: put it in a script, --render ./render.sh`,
      };
    words.push(
      word.replace(/"([^"]*)"|'([^']*)'/g, (_, double = "", single = "") => double || single),
    );
  }
  return words.length === 0 ? { problem: "it is empty" } : words;
}

/**
 * Runs a command that prints manifests, in the working folder or in a checkout of a revision. It runs without a shell, and
 * sees no variables but those of `VARIABLES`, so that tokens of a CI job do not reach what a pull request contains.
 */
export function render(
  command: readonly string[],
  revision: string | undefined,
  host: Host,
): Rendering {
  if (revision === undefined) return printed(command, ".", host);
  const checkout = mkdtempSync(path.join(tmpdir(), "gwc-render-"));
  try {
    const folder = checkedOut(revision, checkout);
    if (folder === undefined)
      return { kind: "problem", problem: `git can't check out ${revision}` };
    return printed(command, folder, host);
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
}

/** Writes the files of a revision to a folder; returns the counterpart of the working folder. No hook runs. */
function checkedOut(revision: string, folder: string): string | undefined {
  const git = (args: readonly string[], cwd = "."): string =>
    execFileSync("git", args, {
      cwd,
      env: { ...process.env, GIT_INDEX_FILE: path.join(folder, "index") },
      stdio: ["ignore", "pipe", "ignore"],
      encoding: "utf8",
    }).trim();
  try {
    const root = git(["rev-parse", "--show-toplevel"]);
    const inside = git(["rev-parse", "--show-prefix"]);
    git(["read-tree", revision], root);
    git(["checkout-index", "--all", "--quiet", `--prefix=${path.join(folder, "files")}/`], root);
    return path.join(folder, "files", inside);
  } catch {
    return undefined;
  }
}

/** Variables that renderers need: where programs and settings are, and how to reach a network. */
const VARIABLES: readonly string[] = [
  ...["PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ"],
  ...["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HELM_HOME", "KUSTOMIZE_PLUGIN_HOME"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR"],
];

/** Milliseconds after which a renderer is ended. */
const MAX_TIME = 10 * 60_000;

const MAX_OUTPUT = 256 * 1024 * 1024;

function printed([program = "", ...args]: readonly string[], cwd: string, host: Host): Rendering {
  const env = VARIABLES.flatMap((name) => {
    const value = host.variable(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: Object.fromEntries(env),
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    timeout: MAX_TIME,
    maxBuffer: MAX_OUTPUT,
  });
  const failed = (problem: string): Rendering => ({ kind: "problem", problem });
  if (error !== undefined && "code" in error && error.code === "ENOENT")
    return failed(`"${printable(program)}" is not there`);
  if (error !== undefined && "code" in error && error.code === "ENOBUFS")
    return failed("it printed more than 256 MiB");
  if (signal !== null) return failed(`it was ended by ${signal}`);
  if (error !== undefined) return failed(`it could not be started: ${printable(error.message)}`);
  if (status !== 0) {
    const said = stderr.trim().split("\n").slice(-5).map(printable).join("\n  ");
    return failed(`exit code ${status}${said === "" ? "" : `\n  ${said}`}`);
  }
  if (stdout.trim() === "") return failed("it printed no manifests");
  return { kind: "text", text: stdout };
}

/** Returns a host that reads rendered manifests under the name RENDERED, and all other files as before. */
export function renderedHost(text: string, host: Host): Host {
  return {
    ...host,
    readText: (file) => (file === RENDERED ? { kind: "text", text } : host.readText(file)),
    filesIn: (folder) => (folder === RENDERED ? undefined : host.filesIn(folder)),
  };
}

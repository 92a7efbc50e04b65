import { execFileSync } from "node:child_process";
import path from "node:path";
import { type FileText, fileText, type Host } from "../../host.ts";

/** Creates a host that reads files of a git revision; `undefined` if the revision is unknown or there is no repository. */
export function gitHost(revision: string, host: Host): Host | undefined {
  // Otherwise git would read the revision as an option.
  if (revision.startsWith("-")) return undefined;
  const found = git(["rev-parse", "--verify", "--quiet", `${revision}^{commit}`]);
  const commit = found?.trim();
  if (commit === undefined || commit === "") return undefined;
  return {
    ...host,
    readText: (file): FileText => {
      // Files outside of the repository have no revisions.
      if (!isInRepository(file)) return host.readText(file);
      const blob = gitBytes(["cat-file", "blob", `${commit}:./${posix(file)}`]);
      if (blob === undefined) return { kind: "problem", problem: `it is not in ${revision}` };
      return fileText(blob);
    },
    filesIn: (folder) => {
      if (!isInRepository(folder)) return host.filesIn(folder);
      const tree = git(["ls-tree", "-r", "--name-only", "-z", commit, "--", `${posix(folder)}/`]);
      const files = tree?.split("\0").filter((file) => /\.(ya?ml|json)$/i.test(file)) ?? [];
      const visible = files.filter((file) => !file.split("/").some(isIgnored));
      return visible.length === 0 ? undefined : visible.toSorted();
    },
  };
}

/** Whether a revision has neither a file nor a folder of this name: the input is new. */
export function isAbsentFrom(revision: Host, file: string): boolean {
  return revision.readText(file).kind !== "text" && revision.filesIn(file) === undefined;
}

/** Whether a path, which need not exist, is in the repository of the working directory. */
export function isInRepository(file: string): boolean {
  const root = git(["rev-parse", "--show-toplevel"])?.trim();
  if (root === undefined || file === "-") return false;
  return !path.relative(root, path.resolve(file)).startsWith("..");
}

/** Formats a path relative to the working directory, for git. */
function posix(file: string): string {
  return path.relative("", file).split(path.sep).join("/") || ".";
}

function isIgnored(name: string): boolean {
  return name === "node_modules" || /^\.(?!\.?$)/.test(name);
}

function git(args: readonly string[]): string | undefined {
  return gitBytes(args)?.toString("utf8");
}

function gitBytes(args: readonly string[]): Buffer | undefined {
  try {
    return execFileSync("git", args, {
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 256 * 1024 * 1024,
    });
  } catch {
    return undefined;
  }
}

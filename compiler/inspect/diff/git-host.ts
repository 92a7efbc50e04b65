import { execFileSync } from "node:child_process";
import path from "node:path";
import { type FileText, fileText, type Host } from "../../host.ts";

/** A host whose files are those of a revision; undefined when git knows no such revision, or there is no repository. */
export function gitHost(revision: string, host: Host): Host | undefined {
  // a revision is no option of git
  if (revision.startsWith("-")) return undefined;
  const found = git(["rev-parse", "--verify", "--quiet", `${revision}^{commit}`]);
  const commit = found?.trim();
  if (commit === undefined || commit === "") return undefined;
  return {
    ...host,
    readText: (file): FileText => {
      // What lies outside of the repository has no revisions: it is as it is.
      if (!isInRepository(file)) return host.readText(file);
      const blob = gitBytes(["cat-file", "blob", `${commit}:./${posix(file)}`]);
      if (blob === undefined) return { kind: "problem", problem: `it is not in ${revision}` };
      return fileText(blob);
    },
    filesIn: (folder) => {
      if (!isInRepository(folder)) return host.filesIn(folder);
      const tree = git(["ls-tree", "-r", "--name-only", "-z", commit, "--", `${posix(folder)}/`]);
      const files = tree?.split("\0").filter((file) => /\.(ya?ml|json)$/i.test(file)) ?? [];
      const visible = files.filter((file) => !file.split("/").some(isForOthers));
      return visible.length === 0 ? undefined : visible.toSorted();
    },
  };
}

/** Whether a file lies in the repository of the working directory, whether it is there or not. */
export function isInRepository(file: string): boolean {
  const root = git(["rev-parse", "--show-toplevel"])?.trim();
  if (root === undefined || file === "-") return false;
  return !path.relative(root, path.resolve(file)).startsWith("..");
}

/** A path from the working directory, as git takes it. */
function posix(file: string): string {
  return path.relative("", file).split(path.sep).join("/") || ".";
}

function isForOthers(name: string): boolean {
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

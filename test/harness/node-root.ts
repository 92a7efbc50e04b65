import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, linkSync, mkdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";
import { program } from "./tool.ts";

/** A folder with Node.js and its libraries, as in the distroless base image of generated Dockerfiles. */
export function nodeRoot(): string {
  const root = temporaryFolder();
  // Temporary folders are private; the user of an image has to enter its root.
  chmodSync(root, 0o755);
  const node = realpathSync(process.execPath);
  linkInto(root, node, "/nodejs/bin/node");
  for (const library of librariesOf(node)) linkInto(root, realpathSync(library), library);
  for (const folder of ["tmp", "proc", "dev"]) mkdirSync(path.join(root, folder));
  chmodSync(path.join(root, "tmp"), 0o1777);
  return root;
}

/** Makes a file available at a path of the root. */
export function linkInto(root: string, source: string, target: string): void {
  const file = path.join(root, target);
  mkdirSync(path.dirname(file), { recursive: true });
  try {
    linkSync(source, file);
  } catch {
    copyFileSync(source, file);
  }
}

/** Paths of the libraries that a program loads, its loader included. */
function librariesOf(file: string): readonly string[] {
  const text = execFileSync(program("ldd"), [file], { encoding: "utf8" });
  return [...text.matchAll(/(\/\S+) \(0x/g)].map(([, library = ""]) => library);
}

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const root = path.resolve(import.meta.dirname, "..", "..");
const sources = path.join(root, "templates", "editor", "vscode");

/** Files of the extension that are not code. */
const FILES = ["package.json", "README.md", "gateway.svg"];

/** Writes the extension of Visual Studio Code to a folder, as one module with the client of the protocol. */
export async function writeExtension(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) cpSync(path.join(sources, file), path.join(folder, file));
  cpSync(path.join(root, "LICENSE"), path.join(folder, "LICENSE"));
  await build({
    entryPoints: [path.join(sources, "extension.ts")],
    outfile: path.join(folder, "extension.cjs"),
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node20",
    external: ["vscode"],
    logLevel: "warning",
    absWorkingDir: root,
  });
}

/** Packages a folder with the extension as a file that editors install, with Microsoft's tool for that. */
function packageExtension(folder: string, file: string): void {
  const argv = ["--yes", "@vscode/vsce@4", "package", "--no-dependencies", "--out", file];
  execFileSync("npx", argv, { cwd: folder, stdio: "inherit" });
}

// `npm run extension`
if (process.argv[1] === import.meta.filename) {
  const folder = path.join(root, "out", "editor", "vscode");
  await writeExtension(folder);
  packageExtension(folder, path.join(root, "out", "editor", "gwc.vsix"));
}

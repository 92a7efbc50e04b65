import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { bundlePage } from "../4-emit/bundle.ts";
import { PACKAGED_DECLARATIONS, packDeclarations } from "../4-emit/check/runtime-modules.ts";
import { editorSchemaText } from "../commands/schema.ts";
import {
  ADMIN_BUNDLE,
  adminAssets,
  adminPageEntry,
  guidesFolder,
  packageRoot,
  reviewAssets,
  runtimeFolder,
} from "../installation.ts";

const compilerFolder = path.join(packageRoot, "compiler");
const dist = path.join(packageRoot, "dist");
const schema = path.join(packageRoot, "gateway.schema.json");

/** Entry modules of processes and threads. */
const ENTRIES = [
  "cli.ts",
  "agent/agent-thread.ts",
  "controller/model/compile-worker.ts",
  "controller/admission/judge-worker.ts",
  "run/inspection/inspection-worker.ts",
  "run/run-compile-worker.ts",
];

/**
 * Modules that are not bundled: the runtime, packages that it shares with the compiler, and packages that load files of
 * their own.
 */
const NOT_GATHERED = [
  "gwc/*",
  "@bufbuild/*",
  "apache-md5",
  "bcryptjs",
  "esbuild",
  "jose",
  "re2js",
  "ts-morph",
  "unix-crypt-td-js",
];

/** Packages written as CommonJS load modules of Node.js with `require`. */
export const REQUIRE = "const require = (name) => process.getBuiltinModule(name);";

/**
 * Writes the parts of a published package that are generated from sources: modules as JavaScript, declarations of the
 * runtime for checking generated code, and the schema that configurations refer to.
 */
export async function writeCompiled(): Promise<void> {
  removeCompiled();
  await writeModules(dist);
  await packDeclarations(path.join(dist, PACKAGED_DECLARATIONS));
  writeFileSync(schema, editorSchemaText());
}

/** Removes the output of `writeCompiled`. */
export function removeCompiled(): void {
  rmSync(dist, { recursive: true, force: true });
  rmSync(schema, { force: true });
}

/**
 * Writes a package to a folder, without the parts that only make its first build fast: tests run its
 * `compiler/gwc.mjs`.
 */
export async function writePackage(folder: string): Promise<void> {
  mkdirSync(path.join(folder, "compiler"), { recursive: true });
  cpSync(path.join(compilerFolder, "gwc.mjs"), path.join(folder, "compiler", "gwc.mjs"));
  cpSync(path.join(packageRoot, "package.json"), path.join(folder, "package.json"));
  cpSync(runtimeFolder, path.join(folder, "runtime"), { recursive: true });
  for (const assets of [adminAssets, reviewAssets])
    cpSync(assets, path.join(folder, path.relative(packageRoot, assets)), { recursive: true });
  cpSync(guidesFolder, path.join(folder, ".github", "guides"), { recursive: true });
  await writeModules(path.join(folder, "dist"));
}

/**
 * Compiles all modules to JavaScript, because Node.js does not strip types under node_modules. The compiler's modules,
 * and packages that only it uses, are bundled in a few files, which halves the startup time of commands. The folder is
 * a package of the same name, so that `gwc/runtime/...` resolves to the runtime there.
 */
async function writeModules(folder: string): Promise<void> {
  const project = path.join(import.meta.dirname, "tsconfig.json");
  execFileSync("tsc", ["-p", project, "--outDir", folder], { stdio: "inherit" });
  const { name, version, type } = JSON.parse(
    readFileSync(path.join(packageRoot, "package.json"), "utf8"),
  );
  const own = { name, version, type, exports: { "./runtime/*": "./runtime/*.js" } };
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(own, undefined, 2)}\n`);
  const { metafile } = await build({
    entryPoints: ENTRIES.map((entry) => path.join(compilerFolder, entry)),
    outdir: path.join(folder, "compiler"),
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    external: NOT_GATHERED,
    banner: { js: REQUIRE },
    legalComments: "none",
    // A third of the size; names in stack traces stay.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    logLevel: "warning",
    metafile: true,
    absWorkingDir: packageRoot,
    plugins: [runtimeApart],
  });
  const modules = Object.keys(metafile.inputs);
  const twice = modules.find((module) => module.startsWith("runtime/"));
  if (twice !== undefined)
    throw new Error(`${twice} would be bundled twice, each with its own state`);
  writeFileSync(path.join(folder, "compiler", ADMIN_BUNDLE), await bundlePage(adminPageEntry));
  const packages = [...modules, "node_modules/preact/"];
  writeFileSync(path.join(folder, "compiler", "licenses.txt"), licensesOf(packages));
}

/** Returns the licenses of packages that modules come from, which must be distributed with them. */
function licensesOf(modules: readonly string[]): string {
  const found = modules.flatMap(
    (module) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module) ?? [],
  );
  return [...new Set(found)]
    .sort()
    .map((folder) => {
      const [license = ""] = globSync(path.join(packageRoot, folder, "{LICEN[CS]E,License}*"));
      return `${folder.replace(/^.*node_modules\//, "")}\n\n${readFileSync(license, "utf8").trim()}\n`;
    })
    .join("\n---\n\n");
}

/** Keeps the runtime external, so that the compiler and the generated modules share its modules. */
const runtimeApart: Plugin = {
  name: "runtime-apart",
  setup({ onResolve }) {
    onResolve({ filter: /\/runtime\/.*\.ts$/ }, ({ path: imported, resolveDir }) => {
      const module = path.relative(runtimeFolder, path.resolve(resolveDir, imported));
      const name = module.split(path.sep).join("/").replace(/\.ts$/, "");
      return name.startsWith("..") ? undefined : { path: `gwc/runtime/${name}`, external: true };
    });
  },
};

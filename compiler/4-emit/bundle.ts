import { readFileSync } from "node:fs";
import path from "node:path";
import type { BuildOptions, Metafile, OutputFile, Plugin } from "esbuild";
import type { BuildInfo } from "../../runtime/gateway/build-info.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import { withoutHidden } from "../../templates/code/quote.ts";
import { packageRoot, runtimeFolder } from "../installation.ts";
import { builtinHttp } from "./builtin-http.ts";

/** A gateway as one file that runs on Node.js alone. */
export interface Bundle {
  readonly text: string;
  /** The runtime modules in it, as `runtime/...` without extension, sorted, and who imports each. */
  readonly modules: readonly BundledModule[];
  /** The packages in it, sorted. */
  readonly packages: readonly BundledPackage[];
}

/** A package in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly bytes: number;
  /** Where it was found, from gwc's own folder. */
  readonly folder: string;
}

/** A runtime module in a bundle. */
export interface BundledModule {
  readonly name: string;
  readonly bytes: number;
  /** Generated modules (`main.ts`, `routes/tools.ts`) and runtime modules that import it, sorted. */
  readonly importers: readonly string[];
}

/** What a bundle begins with, and what it has in the place of the runtime's own modules. */
export interface BundleOptions {
  /** The path of a generated module. */
  readonly entry: string;
  /** Paths below runtime/ by the paths of what they replace; a replacement itself sees the real module. */
  readonly replaced: ReadonlyMap<string, string>;
}

/** A gateway as it serves. */
const WHOLE: BundleOptions = { entry: "main.ts", replaced: new Map() };

/** An old Node.js gets a clear word. */
const VERSION_CHECK = `if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(\`error: this gateway needs Node.js 24 or newer, not \${process.version}\\n\`);
  process.stderr.write("hint: \`npx -y node@24 FILE\` brings one\\n");
  process.exit(1);
}
`;

/** Packages written as CommonJS ask for Node's own modules through `require`. A thread's module has no file for it. */
const REQUIRE = "const require = (name) => process.getBuiltinModule(name);\n";

/** How everything in a bundle is written. */
const STYLE = {
  bundle: true,
  write: false,
  metafile: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // White space stays: a stack trace shows a line of source, and people look into bundles.
  minifySyntax: true,
  legalComments: "none",
  charset: "utf8",
  logLevel: "silent",
  // Paths stand in the bundle's comments: they must not tell where a linked package really lies.
  preserveSymlinks: true,
  absWorkingDir: packageRoot,
} satisfies BuildOptions;

/**
 * Bundles generated modules with the runtime modules and packages they use; nothing but `node:` stays outside. The
 * only user of esbuild, which is loaded when it is needed.
 */
export async function bundleModules(
  modules: readonly PrintedModule[],
  info: BuildInfo,
  { entry, replaced }: BundleOptions = WHOLE,
): Promise<Bundle> {
  const { build } = await import("esbuild");
  const threads: Metafile[] = [];
  const { metafile, outputFiles } = await build({
    ...STYLE,
    entryPoints: [`generated:${entry}`],
    define: { GWC_BUILD: JSON.stringify(info) },
    plugins: [inPlaceOf(replaced), generated(modules), threadsInside(threads), builtinHttp],
  });
  return {
    // esbuild writes what strings escape as it is; an escape means the same.
    text: VERSION_CHECK + withoutHidden(outputText(outputFiles, metafile)),
    modules: runtimeModules([metafile, ...threads]),
    packages: packageSizes([metafile, ...threads]),
  };
}

/** Puts modules of the runtime in the place of others. */
function inPlaceOf(replaced: ReadonlyMap<string, string>): Plugin {
  const files = new Map(
    Array.from(replaced, (pair) => pair.map((name) => path.join(runtimeFolder, name))).map(
      ([old = "", now = ""]) => [old, now],
    ),
  );
  return {
    name: "in-place-of",
    setup(build) {
      if (files.size === 0) return;
      build.onResolve({ filter: /^(\.|gwc\/runtime\/)/ }, ({ path: name, importer }) => {
        const asked = name.startsWith(".")
          ? path.resolve(path.dirname(importer), name)
          : path.join(runtimeFolder, `${name.slice("gwc/runtime/".length)}.ts`);
        const found = files.get(asked);
        return found === undefined || found === importer ? undefined : { path: found };
      });
    },
  };
}

/** The generated modules, which are in no file, and the runtime by the name that they know it by. */
function generated(modules: readonly PrintedModule[]): Plugin {
  const texts = new Map(modules.map((module) => [module.path, module.text]));
  return {
    name: "generated",
    setup(build) {
      build.onResolve({ filter: /^generated:/ }, ({ path: name }) => ({
        path: name.slice("generated:".length),
        namespace: "generated",
      }));
      build.onResolve({ filter: /^gwc\/runtime\// }, ({ path: name }) => ({
        path: path.join(runtimeFolder, `${name.slice("gwc/runtime/".length)}.ts`),
      }));
      build.onResolve({ filter: /^\./, namespace: "generated" }, ({ path: name, importer }) => ({
        path: path.posix.join(path.posix.dirname(importer), name),
        namespace: "generated",
      }));
      build.onLoad({ filter: /.*/, namespace: "generated" }, ({ path: name }) => ({
        contents: texts.get(name) ?? "",
        loader: "ts",
        resolveDir: packageRoot,
      }));
    },
  };
}

/**
 * A runtime module `x-thread-url.ts` exports the URL of `x-thread.ts`, the main module of a thread. A bundle is one file:
 * there the URL holds the thread's own bundle. What those were made of is added to `threads`.
 */
function threadsInside(threads: Metafile[]): Plugin {
  return {
    name: "threads",
    setup(build) {
      build.onLoad({ filter: /[/\\]runtime[/\\].*-thread-url\.ts$/ }, async ({ path: file }) => {
        const { metafile, outputFiles } = await build.esbuild.build({
          ...STYLE,
          entryPoints: [file.replace(/-url\.ts$/, ".ts")],
        });
        threads.push(metafile);
        const name = /export const (\w+)/.exec(readFileSync(file, "utf8"))?.[1];
        const text = JSON.stringify(outputText(outputFiles, metafile));
        const url = `new URL("data:text/javascript," + encodeURIComponent(${text}))`;
        return { contents: `export const ${name} = ${url};`, loader: "js" };
      });
    },
  };
}

/** What esbuild wrote, with `require` where something in it asks for Node's modules by it. */
function outputText(outputs: readonly OutputFile[], metafile: Metafile): string {
  const bundled = bundledInputs(metafile);
  const asks = Object.entries(metafile.inputs).some(
    ([input, { imports }]) =>
      bundled[input] !== undefined &&
      imports.some(({ kind, external }) => kind === "require-call" && external === true),
  );
  return (asks ? REQUIRE : "") + withPackagePaths(outputs[0]?.text ?? "", metafile);
}

/**
 * A bundle's text with the paths of packages as a repository has them: where npm put a package (beside gwc, or below it)
 * would be in the bytes. esbuild writes a path as a comment, and as the key of a CommonJS module.
 */
function withPackagePaths(text: string, { inputs }: Metafile): string {
  const elsewhere = Object.keys(inputs).filter((input) => packagePath(input) !== input);
  if (elsewhere.length === 0) return text;
  const known = new Set(elsewhere);
  return text.replace(
    /^(\/\/ | {2}")(.+?)("\((?:exports|module|__unused).*)?$/gm,
    (line, before: string, input: string, after = "") =>
      known.has(input) ? `${before}${packagePath(input)}${after}` : line,
  );
}

/** `../jose/index.js` as `node_modules/jose/index.js`; a path that is in no package stays. */
function packagePath(input: string): string {
  // `<define:GWC_BUILD>` is in no file either.
  if (/^(generated:|builtin:|runtime\/|<)/.test(input)) return input;
  const file = path.resolve(packageRoot, input).split(path.sep).join("/");
  const at = file.lastIndexOf("/node_modules/");
  return at < 0 ? input : file.slice(at + 1);
}

type OutputInputs = Metafile["outputs"][string]["inputs"];

function runtimeModules(metafiles: readonly Metafile[]): readonly BundledModule[] {
  const importers = new Map<string, string[]>();
  const bytes = new Map<string, number>();
  for (const metafile of metafiles) {
    const bundled = bundledInputs(metafile);
    for (const [importer, { imports }] of Object.entries(metafile.inputs)) {
      if (bundled[importer] === undefined) continue;
      for (const { path: imported } of imports) {
        const known = importers.get(imported);
        if (known === undefined) importers.set(imported, [moduleName(importer)]);
        else known.push(moduleName(importer));
      }
    }
    for (const [input, { bytesInOutput }] of Object.entries(bundled)) {
      if (!input.startsWith("runtime/") || bytesInOutput === 0) continue;
      bytes.set(input, (bytes.get(input) ?? 0) + bytesInOutput);
      // Nothing imports the main module of a thread but through its URL.
      const url = input.replace(/\.ts$/, "-url.ts");
      if (bytes.has(url)) importers.set(input, [moduleName(url)]);
    }
  }
  return Array.from(bytes, ([input, size]) => ({
    name: moduleName(input),
    bytes: size,
    importers: [...new Set(importers.get(input) ?? [])].sort(),
  })).sort(byName);
}

function bundledInputs({ outputs }: Metafile): OutputInputs {
  const [output] = Object.values(outputs);
  return output?.inputs ?? {};
}

/** `generated:routes/tools.ts` and `runtime/http/engine/node/http-server.ts` as people call them. */
function moduleName(input: string): string {
  return input.startsWith("runtime/")
    ? input.replace(/\.ts$/, "")
    : input.replace(/^generated:/, "");
}

function packageSizes(metafiles: readonly Metafile[]): Bundle["packages"] {
  const sizes = new Map<string, { readonly bytes: number; readonly folder: string }>();
  for (const metafile of metafiles) {
    for (const [input, { bytesInOutput }] of Object.entries(bundledInputs(metafile))) {
      const stable = packagePath(input);
      const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(stable)?.[1];
      if (name === undefined || bytesInOutput === 0) continue;
      // The path is the key of a CommonJS module, and counts.
      const isKeyed = metafile.inputs[input]?.format === "cjs";
      const bytes = bytesInOutput + (isKeyed ? stable.length - input.length : 0);
      const known = sizes.get(name)?.bytes ?? 0;
      // Beside gwc, its path from here names no `node_modules`.
      const file = path.resolve(packageRoot, input).split(path.sep).join("/");
      const end = file.lastIndexOf(`/node_modules/${name}/`) + `/node_modules/${name}`.length;
      const folder = path.relative(packageRoot, file.slice(0, end));
      sizes.set(name, { bytes: known + bytes, folder });
    }
  }
  return [...sizes].map(([name, found]) => ({ name, ...found })).sort(byName);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

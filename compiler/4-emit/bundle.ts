import { readFileSync } from "node:fs";
import path from "node:path";
import type { BuildOptions, Metafile, OutputFile, Plugin } from "esbuild";
import type { BuildInfo } from "../../runtime/gateway/build-info.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import { withoutHidden } from "../../templates/code/quote.ts";
import { packageRoot, runtimeFolder } from "../installation.ts";
import { LINES_PLACEHOLDER, withPolicyLines } from "./policy-lines.ts";
import { POLICY_INTERFACE, POLICY_MODULE } from "./policy-modules.ts";

/** A gateway as one file that needs nothing but Node.js. */
export interface Bundle {
  readonly text: string;
  /** Runtime modules in the bundle, as `runtime/...` without extension, sorted, with the modules that import each. */
  readonly modules: readonly BundledModule[];
  /** Packages in the bundle, sorted. */
  readonly packages: readonly BundledPackage[];
}

/** A package in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly bytes: number;
  /** Folder in which it was found, relative to gwc's own folder. */
  readonly folder: string;
}

/** A runtime module in a bundle. */
export interface BundledModule {
  readonly name: string;
  readonly bytes: number;
  /** Generated modules (`main.ts`, `routes/tools.ts`) and runtime modules that import it, sorted. */
  readonly importers: readonly string[];
}

/** The entry of a bundle, and the runtime modules that are replaced in it. */
export interface BundleOptions {
  /** Path of a generated module. */
  readonly entry: string;
  /** Replacements by the paths that they replace, both below runtime/. A replacement itself imports the original. */
  readonly replaced: ReadonlyMap<string, string>;
  /** Modules of the runtime that are evaluated before all others. */
  readonly first?: readonly string[];
}

/** Options of a gateway that serves: it answers its command line before any module reads the environment. */
const WHOLE: BundleOptions = {
  entry: "main.ts",
  replaced: new Map(),
  first: ["gateway/command-line.ts"],
};

/** First lines of a bundle: users of an old Node.js get a hint instead of a syntax error. */
const VERSION_CHECK = `if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(\`error: this gateway needs Node.js 24 or newer, not \${process.version}\\n\`);
  process.stderr.write("hint: run \`npx -y node@24 FILE\`\\n");
  process.exit(1);
}
`;

/**
 * CommonJS packages load Node's own modules through `require`. The module of a thread has no file to create one from.
 */
const REQUIRE = "const require = (name) => process.getBuiltinModule(name);\n";

/** Options for everything in a bundle. */
const STYLE = {
  bundle: true,
  write: false,
  metafile: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // White space remains: stack traces show lines of source, and people read bundles.
  minifySyntax: true,
  legalComments: "none",
  charset: "utf8",
  logLevel: "silent",
  // Paths appear in comments of the bundle and must not reveal where a linked package is.
  preserveSymlinks: true,
  absWorkingDir: packageRoot,
} satisfies BuildOptions;

/**
 * Bundles generated modules with the runtime modules and packages that they use. Only `node:` imports remain. The
 * only user of esbuild, which is loaded on first use.
 */
export async function bundleModules(
  modules: readonly PrintedModule[],
  info: BuildInfo,
  { entry, replaced, first = [] }: BundleOptions = WHOLE,
): Promise<Bundle> {
  const { build } = await esbuild();
  const threads: Metafile[] = [];
  const hasUserModules = modules.some(({ user }) => user !== undefined);
  const { metafile, outputFiles } = await build({
    ...STYLE,
    ...(hasUserModules && MAPPED),
    entryPoints: [`generated:${entry}`],
    inject: first.map((name) => path.join(runtimeFolder, name)),
    define: Object.fromEntries([
      ["GWC_BUILD", JSON.stringify(info)],
      ...(hasUserModules ? [["GWC_POLICY_LINES", JSON.stringify(LINES_PLACEHOLDER)]] : []),
    ]),
    plugins: [inPlaceOf(replaced), generated(modules), threadsInside(threads), builtinHttp],
  });
  return {
    // esbuild writes hidden characters of strings unescaped; escapes mean the same.
    text: VERSION_CHECK + withoutHidden(outputText(outputFiles, metafile, LINES_ABOVE)),
    modules: runtimeModules([metafile, ...threads]),
    packages: packageSizes([metafile, ...threads]),
  };
}

/** Loads esbuild on first use: most commands need none. */
function esbuild() {
  return import("esbuild");
}

/** Bundles a program for browsers, with the packages that it uses. */
export async function bundlePage(entry: string): Promise<string> {
  const { build } = await esbuild();
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    // ASCII alone, whatever a server says of its encoding.
    charset: "ascii",
    logLevel: "silent",
    absWorkingDir: packageRoot,
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** Replaces modules of the runtime. */
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

/**
 * Resolves the generated modules, which exist only in memory, and the runtime by the name under which they import it.
 */
function generated(modules: readonly PrintedModule[]): Plugin {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const runtimeFile = (name: string) => ({
    path: path.join(runtimeFolder, `${name.slice("gwc/runtime/".length)}.ts`),
  });
  return {
    name: "generated",
    setup(build) {
      build.onResolve({ filter: /^generated:/ }, ({ path: name }) => ({
        path: name.slice("generated:".length),
        namespace: "generated",
      }));
      build.onResolve({ filter: /^gwc\/runtime\// }, ({ path: name }) => runtimeFile(name));
      build.onResolve({ filter: new RegExp(`^${POLICY_INTERFACE}$`) }, () =>
        runtimeFile(POLICY_MODULE),
      );
      build.onResolve({ filter: /^\./, namespace: "generated" }, ({ path: name, importer }) => ({
        path: path.posix.join(path.posix.dirname(importer), name),
        namespace: "generated",
      }));
      build.onLoad({ filter: /.*/, namespace: "generated" }, ({ path: name }) => ({
        contents: byPath.get(name)?.text ?? "",
        loader: "ts",
        resolveDir: byPath.get(name)?.user?.folder ?? packageRoot,
      }));
    },
  };
}

/**
 * Inlines threads. A runtime module `x-thread-url.ts` exports the URL of `x-thread.ts`, the main module of a thread.
 * A bundle is one file, so its URL contains a bundle of the thread. Adds the metafiles of these bundles to `threads`.
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

/** Options for a bundle whose errors name lines of users' modules. esbuild names the map after the file. */
const MAPPED = {
  sourcemap: "external",
  sourcesContent: false,
  outfile: "gateway.mjs",
} satisfies BuildOptions;

/** Lines above esbuild's output: of the version check, and the heading of the file. */
const LINES_ABOVE = VERSION_CHECK.split("\n").length;

/** Returns esbuild's output, with a `require` if something in it loads Node's modules through one. */
function outputText(outputs: readonly OutputFile[], metafile: Metafile, above = 0): string {
  const bundled = bundledInputs(metafile);
  const asks = Object.entries(metafile.inputs).some(
    ([input, { imports }]) =>
      bundled[input] !== undefined &&
      imports.some(({ kind, external }) => kind === "require-call" && external === true),
  );
  const text = outputs.find(({ path: file }) => !file.endsWith(".map"))?.text ?? "";
  const map = outputs.find(({ path: file }) => file.endsWith(".map"))?.text;
  const mapped = map === undefined ? text : withPolicyLines(text, map, above + (asks ? 1 : 0));
  return (asks ? REQUIRE : "") + withPackagePaths(mapped, metafile);
}

/**
 * Rewrites the paths of packages as in a repository. Otherwise the bytes would depend on where npm installed a
 * package: next to gwc or below it. esbuild writes a path as a comment and as the key of a CommonJS module.
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

/** Returns `../jose/index.js` as `node_modules/jose/index.js`; paths outside of packages are unchanged. */
function packagePath(input: string): string {
  // `<define:GWC_BUILD>` is not a file either.
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
      // The main module of a thread is imported only through its URL.
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
  const output = Object.entries(outputs).find(([file]) => !file.endsWith(".map"))?.[1];
  return output?.inputs ?? {};
}

/** Returns the readable name of a module: `routes/tools.ts`, `runtime/http/engine/node/http-server`. */
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
      // The path is the key of a CommonJS module and part of its size.
      const isKeyed = metafile.inputs[input]?.format === "cjs";
      const bytes = bytesInOutput + (isKeyed ? stable.length - input.length : 0);
      const known = sizes.get(name)?.bytes ?? 0;
      // For a package next to gwc, the path from here contains no `node_modules`.
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

const ID = "node:http";

/** Namespace of the module that replaces it. */
const NAMESPACE = "builtin";

/**
 * Plugin that loads node:http lazily. An `import` of node:http evaluates everything that it exports, including fetch
 * and WebSocket, which takes a fifth of a gateway's start time. In a bundle, each export is read on its own.
 */
export const builtinHttp: Plugin = {
  name: "builtin-http",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${ID}$`) }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: NAMESPACE, sideEffects: false } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({
      contents: moduleText(),
      loader: "js",
    }));
  },
};

/** Exports that are read at once; the others are loaded on first use. */
function moduleText(): string {
  const exported = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(ID)))
    .filter(([, { value }]) => value !== undefined)
    .map(([name]) => `export const ${name} = /* @__PURE__ */ valueOf("${name}");\n`);
  return `const valueOf = (name) => process.getBuiltinModule("${ID}")[name];\n${exported.join("")}`;
}

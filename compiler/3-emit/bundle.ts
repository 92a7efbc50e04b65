import path from "node:path";
import type { Metafile } from "esbuild";
import type { PrintedModule } from "../../templates/print.ts";
import { packageRoot, runtimeFolder } from "./runtime-folder.ts";

/** A gateway as one file that runs on Node.js alone. */
export interface Bundle {
  readonly text: string;
  /** The runtime modules in it, as `runtime/...` without extension, sorted, and who imports each. */
  readonly modules: readonly BundledModule[];
  /** The packages in it, sorted. */
  readonly packages: readonly { readonly name: string; readonly bytes: number }[];
}

/** A runtime module in a bundle. */
export interface BundledModule {
  readonly name: string;
  readonly bytes: number;
  /** Generated modules (`main.ts`, `routes/tools.ts`) and runtime modules that import it, sorted. */
  readonly importers: readonly string[];
}

/** An old Node.js gets a clear word; packages written as CommonJS ask for Node's own modules through `require`. */
const BANNER = `import { createRequire } from "node:module";
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(\`error: this gateway needs Node.js 24 or newer, not \${process.version}\\n\`);
  process.exit(1);
}
const require = createRequire(import.meta.url);`;

/**
 * Bundles generated modules with the runtime modules and packages they use; nothing but `node:` stays outside. The
 * only user of esbuild, which is loaded when it is needed.
 */
export async function bundleModules(modules: readonly PrintedModule[]): Promise<Bundle> {
  const { build } = await import("esbuild");
  const texts = new Map(modules.map((module) => [module.path, module.text]));
  const result = await build({
    entryPoints: ["generated:main.ts"],
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
    banner: { js: BANNER },
    plugins: [
      {
        name: "generated",
        setup(pluginBuild) {
          pluginBuild.onResolve({ filter: /^generated:/ }, ({ path: name }) => ({
            path: name.slice("generated:".length),
            namespace: "generated",
          }));
          pluginBuild.onResolve({ filter: /^gwc\/runtime\// }, ({ path: name }) => ({
            path: path.join(runtimeFolder, `${name.slice("gwc/runtime/".length)}.ts`),
          }));
          pluginBuild.onResolve(
            { filter: /^\./, namespace: "generated" },
            ({ path: name, importer }) => ({
              path: path.posix.join(path.posix.dirname(importer), name),
              namespace: "generated",
            }),
          );
          pluginBuild.onLoad({ filter: /.*/, namespace: "generated" }, ({ path: name }) => ({
            contents: texts.get(name) ?? "",
            loader: "ts",
            resolveDir: packageRoot,
          }));
        },
      },
    ],
  });
  const [output] = Object.values(result.metafile.outputs);
  return {
    text: result.outputFiles[0]?.text ?? "",
    modules: runtimeModules(result.metafile, output?.inputs ?? {}),
    packages: packageSizes(output?.inputs ?? {}),
  };
}

type OutputInputs = Metafile["outputs"][string]["inputs"];

function runtimeModules({ inputs }: Metafile, bundled: OutputInputs): readonly BundledModule[] {
  const importers = new Map<string, string[]>();
  for (const [importer, { imports }] of Object.entries(inputs)) {
    if (bundled[importer] === undefined) continue;
    for (const { path: imported } of imports) {
      const known = importers.get(imported);
      if (known === undefined) importers.set(imported, [moduleName(importer)]);
      else known.push(moduleName(importer));
    }
  }
  return Object.entries(bundled)
    .filter(([input, { bytesInOutput }]) => input.startsWith("runtime/") && bytesInOutput > 0)
    .map(([input, { bytesInOutput: bytes }]) => ({
      name: moduleName(input),
      bytes,
      importers: [...new Set(importers.get(input) ?? [])].sort(),
    }))
    .sort(byName);
}

/** `generated:routes/tools.ts` and `runtime/http/server.ts` as people call them. */
function moduleName(input: string): string {
  return input.startsWith("runtime/")
    ? input.replace(/\.ts$/, "")
    : input.replace(/^generated:/, "");
}

function packageSizes(bundled: OutputInputs): Bundle["packages"] {
  const sizes = new Map<string, number>();
  for (const [input, { bytesInOutput }] of Object.entries(bundled)) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (name !== undefined && bytesInOutput > 0)
      sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput);
  }
  return [...sizes].map(([name, bytes]) => ({ name, bytes })).sort(byName);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

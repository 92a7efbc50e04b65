import path from "node:path";
import type { PrintedModule } from "../../templates/code/print.ts";
import { packageRoot, runtimeFolder } from "./runtime-folder.ts";

/** A finding of the type checker in generated code: a mistake in gwc, never in the configuration. */
export interface EmitFinding {
  readonly module: string;
  readonly line: number;
  readonly message: string;
}

/**
 * Type-checks generated modules against the runtime's types, with the strictness of a hand-written project. The only
 * user of ts-morph, which is loaded when it is needed: it brings a compiler along.
 */
export async function checkModules(
  modules: readonly PrintedModule[],
): Promise<readonly EmitFinding[]> {
  const { Project, ts } = await import("ts-morph");
  const options = {
    target: ts.ScriptTarget.ESNext,
    lib: ["lib.esnext.d.ts"],
    module: ts.ModuleKind.ESNext,
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  };
  const project = new Project({
    skipAddingFilesFromTsConfig: true,
    skipFileDependencyResolution: true,
    compilerOptions: options,
    resolutionHost: () => ({
      resolveModuleNames: (names, from) => names.map((name) => resolvedModule(name, from)),
    }),
  });
  // What Node.js 24 adds to the language and generated code uses.
  project.createSourceFile(
    path.join(folder, "node.d.ts"),
    "interface ImportMeta { readonly main: boolean }\n" +
      'declare const Buffer: { from(text: string, encoding: "base64"): Uint8Array };',
  );
  const files = modules.map(({ path: name, text }) =>
    project.createSourceFile(path.join(folder, name), text),
  );
  const program = project.getProgram().compilerObject;
  return files.flatMap((file) => {
    const source = file.compilerNode;
    const found = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ];
    return found.map(({ start, messageText }) => ({
      module: path.relative(folder, file.getFilePath()).split(path.sep).join("/"),
      line: source.getLineAndCharacterOfPosition(start ?? 0).line + 1,
      message: ts.flattenDiagnosticMessageText(messageText, " "),
    }));
  });
}

/** A folder that does not exist: the modules are checked in memory. */
const folder = path.join(packageRoot, "out", ".check");

/**
 * Only the runtime and the generated modules are looked at. Packages are not: generated code never touches their types,
 * and reading them would take longer than everything else.
 */
function resolvedModule(
  name: string,
  from: string,
): { readonly resolvedFileName: string } | undefined {
  if (name.startsWith("gwc/runtime/")) {
    return {
      resolvedFileName: path.join(runtimeFolder, `${name.slice("gwc/runtime/".length)}.ts`),
    };
  }
  return name.startsWith(".")
    ? { resolvedFileName: path.resolve(path.dirname(from), name) }
    : undefined;
}

import path from "node:path";
import type { PrintedModule } from "../../templates/print.ts";
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
  const project = new Project({
    skipAddingFilesFromTsConfig: true,
    skipFileDependencyResolution: true,
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      lib: ["lib.esnext.d.ts"],
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: ["node"],
      typeRoots: [path.join(packageRoot, "node_modules", "@types")],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true,
      paths: { "gwc/runtime/*": [`${runtimeFolder}/*.ts`] },
    },
  });
  // A folder that does not exist, inside the package: module resolution then finds the packages the runtime uses.
  const folder = path.join(packageRoot, "out", ".check");
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

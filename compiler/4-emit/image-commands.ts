import { isInImage } from "../../templates/image/tools.ts";
import { childOf, type Diagnostic, Diagnostics } from "../diagnostics/diagnostic.ts";
import type { McpTargetNode } from "../ir/backends.ts";
import type { Program } from "../ir/program.ts";
import { servedRoutes } from "../ir/routes.ts";

type StdioTarget = Extract<McpTargetNode, { readonly kind: "stdio" }>;

/** The commands that a gateway starts, sorted. */
export function startedCommands(program: Program): readonly string[] {
  return [...new Set(stdioTargets(program).map(({ command }) => command))].sort();
}

/** Reports what servers over stdio need and the generated image has not: their commands, and scripts beside them. */
export function missingInImage(program: Program): readonly Diagnostic[] {
  const diagnostics = new Diagnostics();
  for (const { command, args, origin } of stdioTargets(program)) {
    if (!isInImage(command))
      diagnostics.report("not-in-image", childOf(origin, "stdio", "cmd"), { what: command });
    args.forEach((arg, index) => {
      if (typeof arg === "string" && isScript(arg))
        diagnostics.report("not-in-image", childOf(origin, "stdio", "args", index), { what: arg });
    });
  }
  return diagnostics.list;
}

function stdioTargets(program: Program): readonly StdioTarget[] {
  const backends = servedRoutes(program).flatMap(({ route }) => route.backends);
  return backends
    .flatMap((backend) => (backend.kind === "mcp" ? backend.targets : []))
    .filter((target) => target.kind === "stdio");
}

function isScript(arg: string): boolean {
  return /\.([cm]?[jt]s|py|sh)$/.test(arg) && !/^(@|[a-z]+:)/.test(arg);
}

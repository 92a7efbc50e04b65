import { isInImage } from "../../templates/image/tools.ts";
import type { StartedServer } from "../backends/backend.ts";
import { type BackendKind, backendOf } from "../backends/index.ts";
import { childOf, type Diagnostic, Diagnostics } from "../diagnostics/diagnostic.ts";
import type { BackendNode } from "../ir/backends.ts";
import type { Program } from "../ir/program.ts";
import { servedRoutes } from "../ir/routes.ts";

/** Returns the commands that a gateway starts, sorted. */
export function startedCommands(program: Program): readonly string[] {
  return [...new Set(startedServers(program).map(({ command }) => command))].sort();
}

/** Reports commands and local scripts of stdio servers that the generated image lacks. */
export function missingInImage(program: Program): readonly Diagnostic[] {
  const diagnostics = new Diagnostics();
  for (const { command, args, origin } of startedServers(program)) {
    if (!isInImage(command))
      diagnostics.report("not-in-image", childOf(origin, "cmd"), { what: command });
    args.forEach((arg, index) => {
      if (typeof arg === "string" && isScript(arg))
        diagnostics.report("not-in-image", childOf(origin, "args", index), { what: arg });
    });
  }
  return diagnostics.list;
}

/** Returns the servers that a gateway starts as child processes. */
export function startedServers(program: Program): readonly StartedServer[] {
  return servedRoutes(program).flatMap(({ route }) => route.backends.flatMap(serversOf));
}

function serversOf<Kind extends BackendKind>(node: BackendNode<Kind>): readonly StartedServer[] {
  return backendOf<Kind>(node.kind).startedServers?.(node) ?? [];
}

function isScript(arg: string): boolean {
  return /\.([cm]?[jt]s|py|sh)$/.test(arg) && !/^(@|[a-z]+:)/.test(arg);
}

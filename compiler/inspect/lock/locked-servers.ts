import path from "node:path";
import { backendOf } from "../../backends/index.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { lockKey, type ToolLockNode } from "../../model/tool-lock.ts";
import { type ConfigMapPlace, configMapPlace } from "./lock-place.ts";

/** The lock of a configuration that names none. */
export const DEFAULT_LOCK = "gwc.lock.yaml";

/** A server whose tools are locked. */
export interface LockedServer {
  readonly name: string;
  readonly server: string;
  /** A backend with that server alone. */
  readonly node: BackendNode;
  readonly program: Program;
}

/** A lock, and the servers that belong into it, each once. */
export interface LockFile {
  readonly file: string;
  /** The ConfigMap in that file whose entry is the lock; undefined: the file is. */
  readonly configMap: ConfigMapPlace | undefined;
  /** Whether a backend names it. */
  readonly isNamed: boolean;
  readonly servers: readonly LockedServer[];
}

/** The locks that backends name; where none does, the one that could be in the `folder` of the configuration's `files`. */
export function lockFiles(
  programs: readonly Program[],
  files: readonly SourceFile[],
  folder: string,
): readonly LockFile[] {
  const found = programs.flatMap((program) =>
    servedRoutes(program).flatMap(({ route }) =>
      route.backends.flatMap((node) => serversOf(node, program)),
    ),
  );
  const named = found.filter(({ lock }) => lock !== undefined);
  const isNamed = named.length > 0;
  const groups = Map.groupBy(isNamed ? named : found, ({ lock }) => lock?.file ?? DEFAULT_LOCK);
  return [...groups].map(([name, each]) => {
    const servers = new Map(each.map(({ lock: _, ...server }) => [lockKey(server), server]));
    const [first] = each;
    const configMap = first?.lock?.configMap && configMapPlace(first.lock.configMap, files, folder);
    const file = configMap?.file ?? (path.isAbsolute(name) ? name : path.join(folder, name));
    return { file, configMap, isNamed, servers: [...servers.values()] };
  });
}

function serversOf<Kind extends BackendKind>(
  node: BackendNode<Kind>,
  program: Program,
): readonly (LockedServer & { readonly lock: ToolLockNode | undefined })[] {
  const form = backendOf(node.kind).toolLock;
  const lock = form?.of(node);
  // `as`: a backend of a kind is one of some kind
  return (
    form
      ?.servers(node)
      .map((each) => ({ ...each, node: each.node as BackendNode, program, lock })) ?? []
  );
}

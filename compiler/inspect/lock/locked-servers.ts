import path from "node:path";
import { backendOf } from "../../backends/index.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { lockKey, type ToolLockNode } from "../../model/tool-lock.ts";
import { type ConfigMapPlace, configMapPlace } from "./lock-place.ts";

/** Default name of the lock file. */
export const DEFAULT_LOCK = "gwc.lock.yaml";

/** A server with locked items. */
export interface LockedServer {
  readonly name: string;
  readonly server: string;
  /** A backend with only this server. */
  readonly node: BackendNode;
  readonly program: Program;
}

/** A lock file and its servers, without duplicates. */
export interface LockFile {
  readonly file: string;
  /** The ConfigMap in the file whose entry is the lock; `undefined` if the file itself is the lock. */
  readonly configMap: ConfigMapPlace | undefined;
  /** Whether a backend references it. */
  readonly isNamed: boolean;
  readonly servers: readonly LockedServer[];
}

/** Lists the locks that backends reference, or else the default lock in `folder`. */
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
  // A node of one kind is assignable to the union, which TypeScript cannot infer for a type parameter.
  return (
    form
      ?.servers(node)
      .map((each) => ({ ...each, node: each.node as BackendNode, program, lock })) ?? []
  );
}

import { type Document, isMap, isScalar } from "yaml";
import { toolLockOf } from "../3-resolve/tool-locks.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import type { Program } from "../ir/program.ts";
import { servedRoutes } from "../ir/routes.ts";
import type { NameUse } from "./names.ts";
import { keysOf } from "./written-position.ts";

/** Names that a configuration does not declare, and that its locks and tests contain. */
export interface SeenNames {
  /** Returns the known values of a variable: names of tools for `mcp.tool.name`. */
  readonly valuesOf: (path: string) => readonly string[];
  /** Returns the members that tests give a variable: claims for `jwt`. */
  readonly membersOf: (path: string) => readonly string[];
}

/** Locks of the programs. */
function lockedItems(programs: readonly Program[], list: string): readonly string[] {
  const locks = programs.flatMap((program) =>
    servedRoutes(program).flatMap(({ route }) =>
      route.backends.flatMap((node) => toolLockOf(node) ?? []),
    ),
  );
  const items = locks.flatMap(({ targets }) => targets.flatMap((target) => target.items));
  return [...new Set(items.filter((each) => each.list === list).map(({ name }) => name))];
}

/** Collects the names in locks, in test files, and in the configuration. */
export function seenNames(
  programs: readonly Program[],
  tests: readonly SourceFile[],
  names: readonly NameUse[],
): SeenNames {
  const servers = names.flatMap(({ kind, name, isDeclaration }) =>
    isDeclaration && kind === "server" ? name : [],
  );
  const offered = (list: string) => [
    ...lockedItems(programs, list),
    ...tests.flatMap((file) => [...offeredIn(file, list), ...askedIn(file, list)]),
  ];
  return {
    valuesOf: (path) => {
      const [root, kind, field] = path.split(".");
      if (root !== "mcp") return [];
      if (field === "target") return [...new Set(servers)];
      return field === "name" || field === "uri" ? [...new Set(offered(`${kind}s`))] : [];
    },
    membersOf: (path) => [...new Set(tests.flatMap((file) => claimsIn(file, path)))],
  };
}

/** Returns the items that servers offer in a test file: all of them, or one. */
export function offeredIn(
  { documents }: SourceFile,
  list: string,
  server?: string,
): readonly string[] {
  return documents.flatMap(({ yaml }) => {
    const servers: unknown = isMap(yaml.contents) ? yaml.contents.get("servers") : undefined;
    if (!isMap(servers)) return [];
    return servers.items.flatMap(({ key, value }) => {
      const isAsked = server === undefined || (isScalar(key) && key.value === server);
      return isAsked && isMap(value) ? textsOf(value.get(list)) : [];
    });
  });
}

/** Returns the items that the tests of a file ask for. */
function askedIn({ documents }: SourceFile, list: string): readonly string[] {
  return documents.flatMap(({ yaml }) =>
    testsOf(yaml).flatMap((test) => {
      const name: unknown = test.get(list.slice(0, -1));
      return typeof name === "string" ? name : [];
    }),
  );
}

function claimsIn({ documents }: SourceFile, path: string): readonly string[] {
  return documents.flatMap(({ yaml }) =>
    testsOf(yaml).flatMap((test) => {
      const given: unknown = test.getIn(["as", ...path.split(".")]);
      return keysOf(given);
    }),
  );
}

function testsOf({ contents }: Document) {
  const list: unknown = isMap(contents) ? contents.get("tests") : undefined;
  const items: readonly unknown[] = Object(list).items ?? [];
  return items.filter(isMap);
}

function textsOf(list: unknown): readonly string[] {
  const items: readonly unknown[] = Object(list).items ?? [];
  return items.flatMap((item) => (isScalar(item) ? String(item.value) : []));
}

import { isHole } from "../../templates/code/hole.ts";
import type { CachedByObject } from "../cached-results.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Program, RouteNode } from "../ir/program.ts";
import { servedRoutes } from "../ir/routes.ts";
import type { StartupNode } from "../ir/startup.ts";
import type { MountedFile } from "../model/texts.ts";

/**
 * Returns the variables without fallback and the files that a program reads, each with the first place that names it.
 */
export function startupNeeds(program: Program): readonly StartupNode[] {
  const needs = new Map<string, StartupNode>();
  for (const need of namedNeeds(program)) {
    const key = need.kind === "file" ? `${need.file.kind} ${need.file.file}` : `$${need.name}`;
    if (!needs.has(key)) needs.set(key, need);
  }
  return [...needs.values()];
}

/** Returns the same, once for each place that names one. `cached`: the needs of routes that have not changed. */
export function namedNeeds(
  program: Program,
  cached?: CachedByObject<RouteNode, readonly StartupNode[]>,
): readonly StartupNode[] {
  const { binds, tcp, tracing, acme, store, keysApi } = program;
  const routes = new Map<object, RouteNode>(
    servedRoutes(program).map(({ route }) => [route, route]),
  );
  return needsOf({ binds, tcp, tracing, acme, store, keysApi }, (value) => {
    const route = routes.get(value);
    return route && cached?.of(route, () => needsOf(route, () => undefined));
  });
}

/** `known`: returns the needs of a part if they were found before. */
function needsOf(
  whole: object,
  known: (part: object) => readonly StartupNode[] | undefined,
): readonly StartupNode[] {
  const needs: StartupNode[] = [];
  const walk = (value: unknown, around: Origin | undefined): void => {
    // Code only repeats the values next to it.
    if (typeof value !== "object" || value === null || isHole(value)) return;
    if (Array.isArray(value)) {
      for (const item of value) walk(item, around);
      return;
    }
    const found = known(value);
    if (found !== undefined) {
      for (const need of found) needs.push(need);
      return;
    }
    const fields: Readonly<Record<string, unknown>> = { ...value };
    const { origin: own, env: variable } = fields;
    const origin = isOrigin(own) ? own : around;
    if (origin !== undefined && typeof variable === "string" && !("fallback" in fields))
      needs.push({ kind: "variable", name: variable, origin });
    if (origin !== undefined)
      for (const file of filesOf(fields)) needs.push({ kind: "file", file, origin });
    for (const name in fields) if (!SETTLED.has(name)) walk(fields[name], origin);
  };
  walk(whole, undefined);
  return needs;
}

/** Fields without needs: places, and the conditions of routes, which are resolved at compile time. */
const SETTLED: ReadonlySet<string> = new Set(["origin", "table"]);

/** Fields that are always paths of files. */
const PATHS = ["certFile", "keyFile"];

/** Kinds of values whose field `file` is a path. */
const FILE_KINDS: ReadonlySet<unknown> = new Set(["path", "file", "secret", "configMap"]);

function filesOf(fields: Readonly<Record<string, unknown>>): readonly MountedFile[] {
  const { kind, isSecret } = fields;
  const own =
    kind === "secret" || kind === "configMap" ? kind : isSecret === true ? "secret" : "path";
  // A certificate has no fields besides its files.
  const isPair = "cert" in fields && "key" in fields;
  const names = [
    ...PATHS,
    ...(isPair ? ["cert", "key"] : []),
    ...(FILE_KINDS.has(kind) ? ["file"] : []),
  ];
  return names.flatMap((name) => {
    const file = fields[name];
    return typeof file === "string" ? { kind: own, file } : [];
  });
}

/** Returns whether a value of a program is a place of the configuration. */
export function isOrigin(value: unknown): value is Origin {
  return typeof value === "object" && value !== null && "file" in value && "path" in value;
}

import { comment } from "../../templates/code/code.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import type { Trace } from "../../templates/code/trace.ts";
import { accessLogModule } from "../../templates/modules/access-log.ts";
import { connectionRulesModule } from "../../templates/modules/connection-rules.ts";
import { keysApiModule } from "../../templates/modules/keys-api.ts";
import { listenerModule } from "../../templates/modules/listener.ts";
import { mainModule } from "../../templates/modules/main.ts";
import { mainNames } from "../../templates/modules/main-names.ts";
import { metricLabelsModule } from "../../templates/modules/metric-labels.ts";
import { routeModule } from "../../templates/modules/route.ts";
import { startupModule } from "../../templates/modules/startup.ts";
import { tablePartModule } from "../../templates/modules/table-part.ts";
import { tcpRouteModule } from "../../templates/modules/tcp-route.ts";
import { tracingModule } from "../../templates/modules/tracing.ts";
import { usageModule } from "../../templates/modules/usage.ts";
import { backendOf } from "../backends/index.ts";
import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import { type PlaceNames, placeNames } from "../diagnostics/place-names.ts";
import { lineAndColumn, locate, type SourceFile } from "../diagnostics/source.ts";
import type { Program, RouteNode } from "../ir/program.ts";
import { servedHosts, servedRoutes, servedTcpRoutes } from "../ir/routes.ts";
import { kebabCase } from "../model/identifiers.ts";
import type { CachedModules } from "./cached-modules.ts";
import { inputNames } from "./input-names.ts";
import { policyModules, policyPowers } from "./policy-modules.ts";
import { namedNeeds } from "./startup-needs.ts";
import { tableHandlers, tableParts } from "./table-parts.ts";

/** Level of trace comments in generated code. */
export type TraceLevel = "path" | "line" | "none";

/**
 * Emits a program as TypeScript: `main.ts`, the parts of a long routing table, a module for each route, then those of
 * listeners with policies. `cached`: modules of routes that have not changed since the last compilation. `bugs`: collects
 * errors of gwc at routes and listeners, whose modules are then missing; without it, they are thrown.
 */
export function emitModules(
  program: Program,
  trace: TraceLevel,
  files: readonly SourceFile[],
  cached?: CachedModules,
  bugs?: Diagnostics,
): readonly PrintedModule[] {
  const partOf = (at: Origin, make: () => PrintedModule): readonly PrintedModule[] => {
    if (bugs === undefined) return [make()];
    const made = guarded(at, bugs, make);
    return made === undefined ? [] : [made];
  };
  const inputs = inputNames(program);
  const { maxBufferSize } = program;
  const hasThreads = program.process.workers !== undefined;
  const places = placeNames(files);
  const tracer = traceOf(trace, places, files);
  const needs = namedNeeds(program, cached?.needs);
  const policies = policyPowers(program);
  const names = mainNames(program);
  const parts = tableParts(program, names);
  const main = mainModule(program, {
    names,
    tableParts: parts,
    inputs,
    trace: tracer,
    routePath: (route) => `./${routePath(route)}`,
    listenerPath: (policies) => `./${listenerPath(policies)}`,
    hasStartup: needs.length > 0 || policies !== undefined,
    hasPolicies: policies !== undefined,
  });
  const listeners = program.binds.flatMap((bind) => bind.listeners);
  const preRouting = listeners.flatMap((listener) => {
    const { preRouting } = listener;
    if (preRouting === undefined) return [];
    const path = listenerPath(preRouting.id);
    const context = { path, inputs, trace: tracer, maxBufferSize, hasThreads };
    return partOf(listener.origin, () => listenerModule(listener, preRouting, context));
  });
  const logged = loggedVariables(program);
  const hosts = servedHosts(program);
  const served = servedRoutes(program);
  const own = `${program.deployment?.namespace}/${program.name}`;
  const handlers = tableHandlers(program, parts);
  const routes = served.flatMap(({ route, listeners }) => {
    if (handlers.has(route.id)) return [];
    const context = {
      path: routePath(route.id),
      inputs,
      preRouting: listeners.flatMap(({ preRouting }) => preRouting?.policies ?? []),
      hosts: hosts.get(route.id) ?? [],
      maxBufferSize: isForModels(route) ? program.maxModelBufferSize : maxBufferSize,
      hasThreads,
      isTraced: program.tracing !== undefined,
      capturesMessages:
        (program.tracing?.messages ?? program.accessLog?.records?.messages) !== undefined,
      logged,
    };
    const make = () => routeModule(route, { ...context, trace: tracer });
    // Lines shift without any change to the route.
    if (cached === undefined || trace === "line") return partOf(route.origin, make);
    const name = `${trace} ${own} ${context.path}`;
    return partOf(route.origin, () => cached.of(name, route, { ...context, places }, make));
  });
  const labels = new Map(served.map(({ route }) => [route.id, route.name]));
  const tables = [...parts.values()].flat().map((part) => {
    const context = {
      ...{ inputs, labels, handlers },
      routePath: (route: string) => `../${routePath(route)}`,
    };
    const make = () => tablePartModule(part, context);
    return cached?.ofTable(`${own} ${part.path}`, part, context, make) ?? make();
  });
  const tcpRoutes = servedTcpRoutes(program).flatMap(({ route }) =>
    partOf(route.origin, () =>
      tcpRouteModule(route, { path: routePath(route.id), inputs, trace: tracer }),
    ),
  );
  const { accessLog, metricLabels, tracing, usage, keysApi } = program;
  const stored = [
    ...(usage === undefined ? [] : [usageModule(usage, { inputs, trace: tracer })]),
    ...(keysApi === undefined ? [] : [keysApiModule(keysApi, { inputs, trace: tracer })]),
  ];
  const labelled =
    metricLabels === undefined ? [] : [metricLabelsModule(metricLabels, { inputs, trace: tracer })];
  const log =
    accessLog === undefined ? [] : [accessLogModule(accessLog, { inputs, trace: tracer })];
  const traces =
    tracing === undefined ? [] : [tracingModule(tracing, { inputs, trace: tracer, listeners })];
  const connections = connectionRulesModule(program, { inputs, trace: tracer }) ?? [];
  const startup =
    needs.length === 0 && policies === undefined
      ? []
      : [
          startupModule(needs, {
            inputs,
            trace: tracer,
            logFormat: program.process.logFormat,
            policies,
          }),
        ];
  const rest = [connections, log, labelled, stored, traces, startup].flat();
  return [
    main,
    ...tables,
    ...routes,
    ...tcpRoutes,
    ...preRouting,
    ...rest,
    ...policyModules(program),
  ];
}

function listenerPath(policies: string): string {
  return `listeners/${kebabCase(policies)}.ts`;
}

/** Whether requests of a route are for models. */
function isForModels({ backends }: RouteNode): boolean {
  return backends.some(({ kind }) => backendOf(kind).protocol === "llm");
}

/** Returns the variables that the access log, the labels of metrics, usage and the spans of requests read. */
function loggedVariables({
  accessLog,
  metricLabels,
  tracing,
  usage,
}: Program): ReadonlySet<string> {
  const { filter, fields } = accessLog ?? {};
  const added = [
    ...(metricLabels?.labels ?? []),
    ...(usage?.by ?? []),
    ...(fields?.added ?? []),
    ...(tracing?.attributes?.added ?? []),
  ];
  const values = added.map(({ value }) => value);
  return new Set([...(filter?.variables ?? []), ...values.flatMap(({ variables }) => variables)]);
}

function routePath(route: string): string {
  return `routes/${kebabCase(route)}.ts`;
}

function traceOf(level: TraceLevel, places: PlaceNames, files: readonly SourceFile[]): Trace {
  const text = (origin: Origin): string => {
    const place = places.textOf(origin);
    if (level !== "line") return place;
    const { text: source, start } = locate(origin, files);
    return `${place} (line ${lineAndColumn(source, start).line})`;
  };
  const comments = (origin: Origin) => (level === "none" ? [] : [comment(text(origin))]);
  return Object.assign(comments, { text });
}

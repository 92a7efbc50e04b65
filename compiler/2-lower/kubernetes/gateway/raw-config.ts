import type {
  ListenerResource,
  RouteBackend,
  UnservedResources,
} from "../../../config/resources.ts";
import { unservedBackends } from "../../../config/unserved.ts";
import { type ConfigPath, childOf, type Diagnostics } from "../../../diagnostics/diagnostic.ts";
import { valueWithin } from "../../../model/json.ts";
import type { ServedParts } from "../../standalone/served.ts";
import type { ParametersSpec } from "./parameters.ts";

/** Resources that raw configurations add to the listeners of manifests. */
export type RawParts = Omit<ServedParts, "sections">;

/**
 * Returns the resources of a Gateway's raw configurations. A field of the Gateway's own replaces that of its
 * class. Omits resources on the ports of `typed` listeners (reported).
 */
export function rawParts(
  parameters: readonly ParametersSpec[],
  typed: readonly ListenerResource[],
  diagnostics: Diagnostics,
): RawParts {
  const parts = parameters.map(({ served, origin }, index): RawParts => {
    if (served === undefined) return NO_PARTS;
    const field = origin.path.length + RAW_CONFIG.length;
    const later = parameters.slice(index + 1).map(({ rawConfig }) => rawConfig);
    const listeners = served.listeners.filter((listener) => {
      const name = listener.origin.path[field];
      if (later.some((each) => each !== undefined && Object.hasOwn(each, String(name))))
        return false;
      return !isTaken(listener, typed, diagnostics);
    });
    const keys = new Set(listeners.map(({ key }) => key));
    const routes = served.routes.filter((route) =>
      route.listeners.some(({ listener }) => keys.has(listener)),
    );
    return { listeners, routes, backends: served.backends };
  });
  return {
    listeners: parts.flatMap(({ listeners }) => listeners),
    routes: parts.flatMap(({ routes }) => routes),
    backends: new Map<string, RouteBackend>(parts.flatMap(({ backends }) => [...backends])),
  };
}

/** Resources of an empty raw configuration. */
export const NO_PARTS: RawParts = { listeners: [], routes: [], backends: new Map() };
const RAW_CONFIG: ConfigPath = ["spec", "rawConfig"];

/** Whether the Gateway has a listener on the port, in which case the whole bind has no effect. */
function isTaken(
  { port, portOrigin }: ListenerResource,
  typed: readonly ListenerResource[],
  diagnostics: Diagnostics,
): boolean {
  const owner = typed.find((each) => each.port === port);
  if (owner === undefined) return false;
  const related = [{ at: owner.portOrigin, label: "the listener" }];
  const params = { what: `port ${port}`, by: `listener "${owner.name}" of the Gateway` };
  diagnostics.report("raw-config-overridden", portOrigin, params, related);
  return true;
}

/**
 * Reports raw configuration that fields of parameters override, or fields of policies (with the names `frontend`).
 */
export function reportOverridden(
  parameters: readonly ParametersSpec[],
  frontend: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  const has = (read: (each: ParametersSpec) => unknown) =>
    parameters.some((each) => read(each) !== undefined);
  const typed: readonly (readonly [isThere: boolean, by: string, raw: readonly ConfigPath[]])[] = [
    [has(({ logging }) => logging?.format), "logging.format", [["config", "logging", "format"]]],
    [has(({ logging }) => logging?.level), "logging.level", [["config", "logging", "level"]]],
    [has(({ store }) => store), "store", [["config", "store"]]],
    [
      has(({ shutdown }) => shutdown),
      "shutdown",
      [
        ["config", "connectionMinTerminationDeadline"],
        ["config", "connectionTerminationDeadline"],
      ],
    ],
    ...VARIABLES.map(([variable, path]) => {
      const isThere = has(({ env }) => env?.find(({ name }) => name === variable));
      return [isThere, `${variable} of env`, [path]] as const;
    }),
    // Access logs are joined, not overridden.
    ...[...frontend]
      .filter((field) => field !== "frontend.accessLog")
      .map((field) => {
        const name = field.slice("frontend.".length);
        const raw: readonly ConfigPath[] = [
          ["frontendPolicies", name],
          ["config", name],
        ];
        return [true, `${field} of a policy`, raw] as const;
      }),
  ];
  for (const { rawConfig, origin } of parameters) {
    for (const [isThere, by, paths] of typed) {
      for (const path of isThere ? paths : []) {
        if (!isAt(rawConfig, path)) continue;
        const at = childOf(origin, ...RAW_CONFIG, ...path);
        diagnostics.report("raw-config-overridden", at, { what: path.join("."), by });
      }
    }
  }
}

/** Container variables that override a field. */
const VARIABLES: readonly (readonly [variable: string, raw: ConfigPath])[] = [
  ["WORKER_THREADS", ["config", "workerThreads"]],
  ["RUST_LOG", ["config", "logging", "level"]],
  ["LOG_FORMAT", ["config", "logging", "format"]],
];

function isAt(value: unknown, path: ConfigPath): boolean {
  return valueWithin(value, path) !== undefined;
}

/** Returns the parts of raw configurations that no Gateway serves, to report their mistakes. */
export function unservedRawParts(
  declared: Iterable<ParametersSpec>,
  served: readonly RawParts[],
): Pick<UnservedResources, "policies" | "backends"> {
  const listeners = new Set(served.flatMap((each) => each.listeners));
  const routes = new Set(served.flatMap((each) => each.routes));
  const parts = [...declared].flatMap((each) => each.served ?? []);
  const others = parts.flatMap((each) => each.routes).filter((route) => !routes.has(route));
  const idle = parts.flatMap((each) => each.listeners).filter((each) => !listeners.has(each));
  const named = parts.flatMap((each) => [...each.backends.values()]);
  return {
    policies: [...others, ...idle].flatMap(({ policies }) => policies),
    backends: [
      ...others.flatMap(({ backends }) => backends),
      ...unservedBackends(named, [...routes, ...others]),
    ],
  };
}

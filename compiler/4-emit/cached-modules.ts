import { isHole } from "../../templates/code/hole.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import type { RouteModuleContext } from "../../templates/modules/route.ts";
import type { TablePart, TablePartContext } from "../../templates/modules/table-part.ts";
import { CachedByObject, CachedResults, valueDigest } from "../cached-results.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { PlaceNames } from "../diagnostics/place-names.ts";
import type { RouteNode } from "../ir/program.ts";
import type { ServedHost } from "../ir/routes.ts";
import type { StartupNode } from "../ir/startup.ts";
import { isOrigin } from "./startup-needs.ts";

/** Inputs of a route's module besides the route. */
interface ModuleContext extends Omit<RouteModuleContext, "trace"> {
  readonly places: PlaceNames;
}

/** Digest of a route, and the documents in which its places are named. */
interface RouteDigest {
  readonly digest: string;
  readonly documents: readonly Origin[];
}

/** Modules of unchanged routes, cached for the next compilation, and what routes need to start. */
export class CachedModules {
  readonly #modules = new CachedResults<PrintedModule>();
  readonly #hosts = new CachedByObject<ServedHost["matches"][number], string>();
  readonly #routes = new CachedByObject<RouteNode, RouteDigest>();
  readonly #documents = new CachedByObject<object, number>();
  #documentCount = 0;
  /** Variables and files that routes read at start. */
  readonly needs = new CachedByObject<RouteNode, readonly StartupNode[]>();

  /** Returns the module of a route, cached under a unique name. */
  of(
    name: string,
    route: RouteNode,
    context: ModuleContext,
    make: () => PrintedModule,
  ): PrintedModule {
    const { path, inputs, preRouting, hosts, places, ...rest } = context;
    const { maxBufferSize, hasThreads, isTraced, capturesMessages, logged, ...others } = rest;
    // The module depends on nothing else; a new field fails to compile until the key below has it.
    others satisfies Readonly<Record<string, never>>;
    const matches = hosts.flatMap((host) => [
      host.hostname,
      ...host.matches.map((each) => this.#hosts.of(each, () => valueDigest(each))),
    ]);
    const { digest, documents } = this.#routes.of(route, () => ({
      digest: valueDigest(route),
      documents: documentsOf(route),
    }));
    const from = [
      digest,
      // Places contain names of list items, some of which only the documents have.
      ...documents.map((each) => this.#versionOf(places.documentOf(each))),
      ...[
        path,
        inputs,
        matches,
        maxBufferSize,
        hasThreads,
        isTraced,
        capturesMessages,
        [...logged],
      ],
      preRouting.length === 0 ? "" : valueDigest(preRouting),
    ];
    return this.#modules.of(name, JSON.stringify(from), make);
  }

  /** Returns the module of a part of a table, cached under a unique name. */
  ofTable(
    name: string,
    { hosts }: TablePart,
    { inputs, labels }: Pick<TablePartContext, "inputs" | "labels">,
    make: () => PrintedModule,
  ): PrintedModule {
    const rows = hosts.map(({ hostname, rows: own }) => [
      hostname,
      own.map((row) =>
        row.map(({ match, route }) => [
          this.#hosts.of(match, () => valueDigest(match)),
          route,
          labels.get(route),
        ]),
      ),
    ]);
    return this.#modules.of(name, JSON.stringify([inputs, rows]), make);
  }

  /** Returns a number that a document has until its file changes. */
  #versionOf(document: unknown): number {
    if (typeof document !== "object" || document === null) return 0;
    return this.#documents.of(document, () => ++this.#documentCount);
  }

  /** Ends a compilation: drops results that it did not use. */
  turn(): void {
    this.#modules.turn();
  }
}

/** Returns one origin for each document that a value has places in. */
function documentsOf(value: object): readonly Origin[] {
  const found = new Map<string, Origin>();
  const walk = (each: unknown): void => {
    if (typeof each !== "object" || each === null || isHole(each)) return;
    if (isOrigin(each)) found.set(`${each.document} ${each.file}`, each);
    else for (const child of Object.values(each)) walk(child);
  };
  walk(value);
  return [...found.values()];
}

import { createHash } from "node:crypto";
import { serialize } from "node:v8";
import type { PrintedModule } from "../../templates/code/print.ts";
import type { RouteModuleContext } from "../../templates/modules/route.ts";
import type { TablePart, TablePartContext } from "../../templates/modules/table-part.ts";
import type { RouteNode } from "../ir/program.ts";
import type { ServedHost } from "../ir/routes.ts";
import type { StartupNode } from "../ir/startup.ts";
import { KeptByObject, KeptResults } from "../kept-results.ts";

/** What the module of a route is made of, besides the route. */
type ModuleContext = Omit<RouteModuleContext, "trace">;

/** What writing a program leaves to the next time: the modules of routes that did not change, and what they need. */
export class KeptModules {
  readonly #modules = new KeptResults<PrintedModule>();
  readonly #hosts = new KeptByObject<ServedHost["matches"][number], string>();
  readonly #routes = new KeptByObject<RouteNode, string>();
  /** What routes need to start. */
  readonly needs = new KeptByObject<RouteNode, readonly StartupNode[]>();

  /** The module of a route, by a name that is its own. */
  of(
    name: string,
    route: RouteNode,
    context: ModuleContext,
    make: () => PrintedModule,
  ): PrintedModule {
    const { path, inputs, preRouting, hosts, ...rest } = context;
    const { maxBufferSize, hasThreads, isTraced, logged, ...others } = rest;
    // A module follows from nothing that is not named here.
    others satisfies Readonly<Record<string, never>>;
    const matches = hosts.flatMap((host) => [
      host.hostname,
      ...host.matches.map((each) => this.#hosts.of(each, () => digestOf(each))),
    ]);
    const from = [
      this.#routes.of(route, () => digestOf(route)),
      ...[path, inputs, matches, maxBufferSize, hasThreads, isTraced, [...logged]],
      preRouting.length === 0 ? "" : digestOf(preRouting),
    ];
    return this.#modules.of(name, JSON.stringify(from), make);
  }

  /** The module of a part of a table, by a name that is its own. */
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
          this.#hosts.of(match, () => digestOf(match)),
          route,
          labels.get(route),
        ]),
      ),
    ]);
    return this.#modules.of(name, JSON.stringify([inputs, rows]), make);
  }

  /** A compilation has ended. */
  turn(): void {
    this.#modules.turn();
  }
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(serialize(value)).digest("base64");
}

import { policiesBefore } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { Program } from "../../ir/program.ts";
import { allRoutes } from "../../ir/routes.ts";
import type { Bundle } from "../bundle.ts";

/** Content of `modules.json`: the modules of a bundle, and why each is in it. */
export interface ModuleGraph {
  /** Policies with the routes and listeners that use each. */
  readonly policies: Readonly<Record<string, readonly string[]>>;
  /** Runtime modules in the bundle, and which modules import each. */
  readonly runtime: Readonly<Record<string, readonly string[]>>;
  /** Sizes of the packages in the bundle, in bytes. */
  readonly packages: Readonly<Record<string, number>>;
}

/** Returns the module graph of a bundle. */
export function moduleGraphOf(program: Program, bundle: Bundle): ModuleGraph {
  return {
    policies: policyUsers(program),
    runtime: Object.fromEntries(bundle.modules.map(({ name, importers }) => [name, importers])),
    packages: Object.fromEntries(bundle.packages.map(({ name, bytes }) => [name, bytes])),
  };
}

/** Returns the routes, and the listeners before routing, that use each policy. */
export function policyUsers(program: Program): Readonly<Record<string, readonly string[]>> {
  const users = new Map<string, string[]>();
  const add = ({ kind }: PolicyUse, user: string) =>
    users.set(kind, [...(users.get(kind) ?? []), user]);
  for (const listener of program.binds.flatMap((bind) => bind.listeners)) {
    for (const use of policiesBefore(listener)) add(use, `listener ${listener.name}`);
  }
  for (const { route } of allRoutes(program)) {
    for (const use of route.policies) add(use, route.name);
  }
  return Object.fromEntries(users);
}

import { accessOf, allPolicies } from "../ir/access.ts";
import type { BindNode, ListenerNode, Program, RouteNode } from "../ir/program.ts";
import type { Project } from "./project.ts";

/** A route, its program, and where it is served. */
export interface RuledRoute {
  readonly program: Program;
  readonly bind: BindNode;
  readonly listener: ListenerNode;
  readonly route: RouteNode;
}

/** Returns the routes of a configuration with a rule that is written like this. */
export function routesWithRule(project: Project | undefined, text: string): readonly RuledRoute[] {
  return (project?.checked.programs ?? []).flatMap((program) =>
    program.binds.flatMap((bind) =>
      bind.listeners.flatMap((listener) =>
        listener.routes.flatMap((route): readonly RuledRoute[] => {
          const checks = allPolicies(listener, route).flatMap(accessOf);
          const rules = checks.flatMap((check) => (check.kind === "rules" ? check.rules : []));
          return rules.some(({ expression }) => expression.source === text)
            ? [{ program, bind, listener, route }]
            : [];
        }),
      ),
    ),
  );
}

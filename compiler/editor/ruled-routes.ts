import { accessOf, allPolicies } from "../ir/access.ts";
import type { Program, RouteNode } from "../ir/program.ts";
import type { Project } from "./project.ts";

/** A route and its program. */
export interface RuledRoute {
  readonly program: Program;
  readonly route: RouteNode;
}

/** Returns the routes of a configuration with a rule that is written like this. */
export function routesWithRule(project: Project | undefined, text: string): readonly RuledRoute[] {
  return (project?.checked.programs ?? []).flatMap((program) =>
    program.binds.flatMap(({ listeners }) =>
      listeners.flatMap((listener) =>
        listener.routes.flatMap((route): readonly RuledRoute[] => {
          const checks = allPolicies(listener, route).flatMap(accessOf);
          const rules = checks.flatMap((check) => (check.kind === "rules" ? check.rules : []));
          return rules.some(({ expression }) => expression.source === text)
            ? [{ program, route }]
            : [];
        }),
      ),
    ),
  );
}

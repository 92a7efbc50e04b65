import type { PrintedModule } from "../../templates/code/print.ts";
import { emitProgram } from "../compile.ts";
import { version } from "../installation.ts";
import { allRoutes } from "../ir/routes.ts";
import { kebabCase } from "../model/identifiers.ts";
import type { Project } from "./project.ts";

/**
 * Returns the generated module of a route, or the part of a long table that contains its handler; `undefined` if no program
 * has the route.
 */
export async function generatedModule(project: Project, id: string): Promise<string | undefined> {
  const { programs, files } = project.checked;
  for (const program of programs) {
    const found = allRoutes(program).find(({ route }) => route.id === id);
    if (found === undefined) continue;
    const { modules } = await emitProgram(program, files, {
      trace: "line",
      isTypeChecked: false,
      version: version(),
      progress: () => {},
    });
    const own = modules.find(({ path }) => path === `routes/${kebabCase(id)}.ts`);
    return (own ?? modules.find((module) => isTableWith(module, found.route.name)))?.text;
  }
  return undefined;
}

function isTableWith({ path, text }: PrintedModule, route: string): boolean {
  return path.startsWith("tables/") && text.includes(JSON.stringify(route));
}

import { emitProgram } from "../compile.ts";
import { version } from "../installation.ts";
import { allRoutes } from "../ir/routes.ts";
import { kebabCase } from "../model/identifiers.ts";
import type { Project } from "./project.ts";

/** Returns the generated module of a route; `undefined` if no program has the route. */
export async function generatedModule(project: Project, id: string): Promise<string | undefined> {
  const { programs, files } = project.checked;
  const program = programs.find((each) => allRoutes(each).some(({ route }) => route.id === id));
  if (program === undefined) return undefined;
  const emitted = await emitProgram(program, files, {
    trace: "line",
    isTypeChecked: false,
    version: version(),
    progress: () => {},
  });
  return emitted.files.find((each) => each.path.endsWith(`routes/${kebabCase(id)}.ts`))?.text;
}

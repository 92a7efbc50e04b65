import { accessLogModule } from "../../templates/access-log.ts";
import { comment } from "../../templates/code.ts";
import { mainModule } from "../../templates/main.ts";
import type { PrintedModule } from "../../templates/print.ts";
import { routeModule } from "../../templates/route.ts";
import { type Trace, traceNone, tracePath } from "../../templates/trace.ts";
import { kebabCase } from "../2-resolve/names.ts";
import type { Program } from "../ir.ts";
import { servedRoutes } from "../program-routes.ts";
import { lineAndColumn, locate, type SourceFile } from "../source.ts";
import { inputNames } from "./input-names.ts";

/** How much generated text says about where it comes from. */
export type TraceLevel = "path" | "line" | "none";

/** The program as TypeScript: `main.ts` and a module for each route. */
export function emitModules(
  program: Program,
  trace: TraceLevel,
  files: readonly SourceFile[],
): readonly PrintedModule[] {
  const inputs = inputNames(program);
  const { maxBufferSize } = program;
  const tracer = traceOf(trace, files);
  const main = mainModule(program, {
    inputs,
    trace: tracer,
    routePath: (route) => `./${routePath(route)}`,
  });
  const logged = loggedVariables(program);
  const routes = servedRoutes(program).map(({ route, listeners }) =>
    routeModule(route, {
      path: routePath(route.id),
      inputs,
      trace: tracer,
      listeners,
      maxBufferSize,
      logged,
    }),
  );
  const { accessLog } = program;
  return accessLog === undefined
    ? [main, ...routes]
    : [main, ...routes, accessLogModule(accessLog, { inputs, trace: tracer })];
}

/** The variables that the access log reads. */
function loggedVariables({ accessLog }: Program): ReadonlySet<string> {
  const { filter, fields } = accessLog ?? {};
  const values = (fields?.added ?? []).map(({ value }) => value);
  return new Set([...(filter?.variables ?? []), ...values.flatMap(({ variables }) => variables)]);
}

function routePath(route: string): string {
  return `routes/${kebabCase(route)}.ts`;
}

function traceOf(level: TraceLevel, files: readonly SourceFile[]): Trace {
  switch (level) {
    case "none":
      return traceNone;
    case "path":
      return tracePath;
    case "line":
      return (origin) => {
        const [path] = tracePath(origin);
        const { text, start } = locate(origin, files);
        return [comment(`${path?.text ?? ""} (line ${lineAndColumn(text, start).line})`)];
      };
  }
}

import { type ReportFormat, report } from "../diagnostics/report/report.ts";
import { checkInput } from "../inspect/check-input.ts";
import type { Program } from "../ir/program.ts";
import { allRoutes } from "../ir/routes.ts";
import { version } from "../version.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";

const FORMATS: readonly ReportFormat[] = ["text", "json", "sarif", "github", "junit"];

/** `gwc check`: the report is the result. */
export async function checkFiles(
  { positionals, options, flags }: Arguments,
  { host, isColored }: CommandContext,
): Promise<CommandResult> {
  const input = commandInput(positionals, host, "gwc check FILE");
  if (input.kind === "none") return input.result;
  const { programs, findings } = checkInput(
    input.files,
    host,
    flags.has("strict"),
    options.gateway,
  );
  const defaults = host.variable("GITHUB_ACTIONS") === "true" ? "github" : "text";
  const format = oneOf(FORMATS, options.format, defaults);
  const stdout = await report(format, findings, {
    files: input.files,
    version: version(),
    isColored: isColored.stdout,
  });
  if (programs.length === 0) return { exitCode: 1, stdout };
  return { exitCode: 0, stdout, stderr: verdict(input.files, programs) };
}

/** `gateway.yaml: valid, 2 routes, 3 policies` */
function verdict(files: readonly string[], programs: readonly Program[]): string {
  const routes = programs.flatMap(allRoutes);
  const listeners = programs.flatMap(({ binds }) => binds.flatMap((bind) => bind.listeners));
  const places = [
    ...routes.map(({ route }) => route),
    ...listeners.flatMap(({ preRouting }) => preRouting ?? []),
  ];
  const policies = places.reduce((count, place) => count + place.policies.length, 0);
  return `${files.join(", ")}: valid, ${amount(routes.length, "route")}, ${amount(policies, "policy", "policies")}\n`;
}

function amount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

import { failureCode } from "../diagnostics/report/findings.ts";
import { type ReportFormat, report } from "../diagnostics/report/report.ts";
import { checkInput } from "../inspect/check-input.ts";
import { version } from "../installation.ts";
import type { Program } from "../ir/program.ts";
import { allRoutes } from "../ir/routes.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { fileOption, gateway, strict } from "./shared-options.ts";

const FORMATS: readonly ReportFormat[] = ["text", "json", "sarif", "github", "junit"];

/** `gwc check`: reports the mistakes of a configuration. */
export const check: Command = {
  minPositionals: 0,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "Checks FILES (default: gateway.yaml) exactly as `gwc build` does: what passes the check also builds.\n" +
    "Pods of a built bundle can mount Secrets and ConfigMaps of the Gateway's namespace only. " +
    "The controller also delivers those of other namespaces: --cluster checks manifests by its rules.\n" +
    "With GITHUB_ACTIONS=true the default format is github.",
  options: [
    fileOption,
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json", "sarif", "github", "junit"],
      summary: "output format (default: text)",
    },
    gateway,
    {
      name: "cluster",
      summary: "accept Secrets of every namespace, as the controller does",
    },
    strict,
  ],
  examples: [
    "gwc check",
    "gwc check gateway.yaml --format sarif > gwc.sarif",
    "gwc check --cluster manifests/",
  ],
  work: checkFiles,
};

async function checkFiles(
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
    { isDelivered: flags.has("cluster") },
  );
  const defaults = host.variable("GITHUB_ACTIONS") === "true" ? "github" : "text";
  const format = oneOf(FORMATS, options.format, defaults);
  const stdout = await report(format, findings, {
    files: input.files,
    version: version(),
    isColored: isColored.stdout,
  });
  if (programs.length === 0) return { exitCode: failureCode(findings), stdout };
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

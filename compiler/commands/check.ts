import { gatewayName } from "../1-parse/gateway-name.ts";
import { type Checked, check } from "../compile.ts";
import { countFindings, findingsOf } from "../report/findings.ts";
import { type ReportFormat, report } from "../report/report.ts";
import { choose } from "./arguments.ts";
import type { Arguments, CommandResult, Surroundings } from "./command.ts";
import { version } from "./version.ts";

const FORMATS: readonly ReportFormat[] = ["text", "json", "sarif", "github", "junit"];

/** `gwc check`: the report is the result. */
export async function checkFiles(
  { operands, options, flags }: Arguments,
  { host, isColored }: Surroundings,
): Promise<CommandResult> {
  const isStrict = flags.has("strict");
  const checked = check(operands, host, { name: gatewayName(operands), isStrict });
  const usual = host.variable("GITHUB_ACTIONS") === "true" ? "github" : "text";
  const format = choose(FORMATS, options.format, usual);
  const findings = findingsOf(checked.diagnostics, checked.files, isStrict);
  const stdout = await report(format, findings, {
    files: operands,
    version: version(),
    isColored: isColored.stdout,
  });
  const exitCode = countFindings(findings).error > 0 ? 1 : 0;
  return { exitCode, stdout, ...(exitCode === 0 ? { stderr: verdict(operands, checked) } : {}) };
}

/** `gateway.yaml: 2 routes, 3 policies; gwc build will build it` */
function verdict(files: readonly string[], { program }: Checked): string {
  const routes =
    program?.binds.flatMap((bind) => bind.listeners.flatMap((listener) => listener.routes)) ?? [];
  const policies = routes.reduce((count, route) => count + route.policies.length, 0);
  return `${files.join(", ")}: good, ${amount(routes.length, "route")}, ${amount(policies, "policy", "policies")}\n`;
}

function amount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

import { stringify } from "yaml";
import { textReport } from "../diagnostics/report/text.ts";
import { checkInput } from "../inspect/check-input.ts";
import { YAML_OUTPUT } from "../model/yaml-output.ts";
import { statusOf } from "../status/status.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { fileOption } from "./shared-options.ts";

/** `gwc status`: prints the status conditions of manifests; exit code 1 if no Gateway compiles. */
export const status: Command = {
  minPositionals: 1,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "Prints the status that the controller would write, with the Gateway API's reasons: GatewayClasses, Gateways and their listeners, " +
    "routes for each parent, backends, policies for each target. An invalid policy is not Accepted; a policy without effect is not Attached.",
  options: [
    fileOption,
    {
      name: "format",
      value: "FORMAT",
      choices: ["yaml", "json"],
      summary: "output format (default: yaml)",
    },
  ],
  examples: ["gwc status manifests/", "kubectl get gateways,httproutes -o yaml | gwc status -"],
  work: printStatus,
};

async function printStatus(
  { positionals, options }: Arguments,
  { host, isColored }: CommandContext,
): Promise<CommandResult> {
  // The controller delivers Secrets of every namespace, so the verdict must be the controller's.
  const checked = checkInput(positionals, host, false, undefined, {
    isDelivered: true,
    readsParts: true,
  });
  const { kubernetes, programs, findings } = checked;
  if (kubernetes === undefined) {
    const report = textReport(findings, isColored.stderr);
    const hint = "only Kubernetes manifests have a status; use `gwc check` for a standalone file\n";
    return { exitCode: 1, stderr: report === "" ? `error: ${hint}` : report };
  }
  const found = statusOf(checked, kubernetes);
  const list = { apiVersion: "v1", kind: "List", items: found };
  const yaml = { ...YAML_OUTPUT, aliasDuplicateObjects: false };
  const stdout =
    options.format === "json"
      ? `${JSON.stringify(list, undefined, 2)}\n`
      : found.map((each) => stringify(each, yaml)).join("---\n");
  return { exitCode: programs.length === 0 ? 1 : 0, stdout };
}

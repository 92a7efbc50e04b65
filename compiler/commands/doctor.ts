import { painter } from "../diagnostics/report/colors.ts";
import { checkInput } from "../inspect/check-input.ts";
import { checksJson, checksText, countStatuses } from "../inspect/doctor/checks-report.ts";
import { runChecks } from "../inspect/doctor/run-checks.ts";
import { version } from "../installation.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { fileOption, gateway } from "./shared-options.ts";

/** `gwc doctor`: checks whether a gateway can run on this machine. */
export const doctor: Command = {
  minPositionals: 0,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "Checks this machine (Node.js, memory, open files) and, with FILES (default: gateway.yaml, if there is one), whether the " +
    "gateway can run here: variables, files, commands, certificates, ports, servers that it connects to, and the clock.\n" +
    "It opens each port for a moment, connects to each server with the TLS settings of the configuration, and sends `HEAD /` " +
    "without credentials; --offline leaves the servers out. Run it as the user and with the environment of the gateway.\n" +
    "The output contains no value of a variable and no content of a file, so it can be pasted into an issue.\n" +
    "Exit code: 0 nothing failed, 1 something failed.",
  options: [
    fileOption,
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json"],
      summary: "output format (default: text)",
    },
    { name: "offline", summary: "connect to no server" },
    gateway,
  ],
  examples: ["gwc doctor", "gwc doctor gateway.yaml --format json"],
  work: runDoctor,
};

async function runDoctor(
  { positionals, options, flags }: Arguments,
  { host, isColored, columns, progress }: CommandContext,
): Promise<CommandResult> {
  const found = commandInput(positionals, host, "gwc doctor FILE");
  const files = found.kind === "files" ? found.files : [];
  const input = files.length === 0 ? undefined : checkInput(files, host, false, options.gateway);
  progress("checking ports and servers");
  const items = await runChecks({ host, input, isOffline: flags.has("offline") });
  const stdout =
    options.format === "json"
      ? checksJson(items, { gwc: version(), files })
      : checksText(items, { width: columns, paint: painter(isColored.stdout) });
  return { exitCode: countStatuses(items).failed === 0 ? 0 : 1, stdout };
}

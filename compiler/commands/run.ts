import { AdminServer } from "../run/admin/server.ts";
import { listenProblem } from "../run/listen-problem.ts";
import { LiveGateway } from "../run/live-gateway.ts";
import { tryCommand } from "../run/try-command.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { fileOption, gateway, strict } from "./shared-options.ts";

/** `gwc run`: serves until a signal ends the process; returns only if it cannot start. */
export const run: Command = {
  minPositionals: 0,
  maxPositionals: 1,
  details:
    "Serves FILE (default: gateway.yaml) and reloads it when it changes, without dropping a connection. If a change is invalid, " +
    "its mistakes are printed and the last valid version stays in use. `gwc -f FILE` is short for `gwc run FILE`.",
  options: [fileOption, gateway, strict],
  examples: ["gwc run", "gwc run gateway.yaml"],
  work: serve,
};

async function serve(
  { positionals, options, flags }: Arguments,
  { host, isColored, print }: CommandContext,
): Promise<CommandResult> {
  const input = commandInput(positionals, host, "gwc run FILE");
  if (input.kind === "none") return input.result;
  const { endOnSignal, logUncaughtErrors } = await import("gwc/runtime/gateway/start");
  const { lateErrorText } = await import("gwc/runtime/policies/custom/policy-errors");
  const opening = LiveGateway.open({
    file: input.files[0] ?? "",
    isStrict: flags.has("strict"),
    gateway: options.gateway,
    isColored: isColored.stderr,
    host,
    print,
  });
  // A signal may arrive as soon as the first port listens, before `open` has returned.
  const close = async () => {
    const opened = await opening;
    if (opened instanceof LiveGateway) await opened.running.close();
  };
  endOnSignal({ close }, ["SIGTERM", "SIGINT"]);
  const live = await opening;
  if (!(live instanceof LiveGateway)) return { exitCode: 1, stderr: live.talk };
  logUncaughtErrors({ lateErrorText });
  process.on("SIGHUP", () => live.reload());
  const address = host.variable("ADMIN_ADDR") ?? live.current.program.process.adminAddress;
  if (address !== "off") await openAdmin(address, live);
  const command = tryCommand(live.current.program);
  if (command !== undefined) live.say("info", `try: ${command}\n`);
  return new Promise(() => {});
}

/** Opens the admin page; a failure is only a warning, because the gateway works without it. */
async function openAdmin(address: string, live: LiveGateway): Promise<void> {
  try {
    const { url } = await AdminServer.open(address, live);
    live.say("info", `admin page: ${url}\n`);
  } catch (error) {
    const problem = `no admin page on ${address}: ${listenProblem(error)}\n`;
    live.say("warn", problem, `warning: ${problem}`);
  }
}

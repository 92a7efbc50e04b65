import { AdminServer } from "../run/admin/server.ts";
import { listenProblem } from "../run/listen-problem.ts";
import { LiveGateway } from "../run/live-gateway.ts";
import { tryCommand } from "../run/try-command.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { gateway, strict } from "./shared-options.ts";

/** `gwc run`: serves until a signal ends the process. A result only when it can't start. */
export const run: Command = {
  minPositionals: 0,
  maxPositionals: 1,
  details:
    "A good change is served at once, without dropping a connection. After a bad one its mistakes are printed and\n" +
    "the last good gateway goes on. Without FILE it is gateway.yaml of this folder; `gwc -f FILE` is the same.",
  options: [
    {
      name: "file",
      short: "f",
      value: "FILE",
      summary: "the configuration (default: gateway.yaml)",
    },
    gateway,
    strict,
  ],
  examples: ["gwc run", "gwc run gateway.yaml"],
  work: serve,
};

async function serve(
  { positionals, options, flags }: Arguments,
  { host, isColored, print }: CommandContext,
): Promise<CommandResult> {
  const given = options.file === undefined ? positionals : [options.file, ...positionals];
  if (given.length > 1) return oneFile(given);
  const input = commandInput(given, host, "gwc run FILE");
  if (input.kind === "none") return input.result;
  const { endOnSignal, logUncaughtErrors } = await import("gwc/runtime/gateway/start");
  const opening = LiveGateway.open({
    file: input.files[0] ?? "",
    isStrict: flags.has("strict"),
    gateway: options.gateway,
    isColored: isColored.stderr,
    host,
    print,
  });
  // Who sees that it listens may end it at once.
  const close = async () => {
    const opened = await opening;
    if (opened instanceof LiveGateway) await opened.running.close();
  };
  endOnSignal({ close }, ["SIGTERM", "SIGINT"]);
  const live = await opening;
  if (!(live instanceof LiveGateway)) return { exitCode: 1, stderr: live.talk };
  logUncaughtErrors();
  process.on("SIGHUP", () => live.reload());
  const address = host.variable("ADMIN_ADDR") ?? live.current.program.process.adminAddress;
  print(await openAdmin(address, live));
  const command = tryCommand(live.current.program);
  if (command !== undefined) print(`try: ${command}\n`);
  return new Promise(() => {});
}

function oneFile(given: readonly string[]): CommandResult {
  const stderr = `error: \`gwc run\` serves one file, and here are ${given.length}: ${given.join(", ")}\n`;
  return { exitCode: 2, stderr };
}

/** The page is a convenience: without it the gateway serves all the same. */
async function openAdmin(address: string, live: LiveGateway): Promise<string> {
  try {
    const { url } = await AdminServer.open(address, live);
    return `admin page: ${url}\n`;
  } catch (error) {
    return `warning: no admin page on ${address}: ${listenProblem(error)}\n`;
  }
}

import { LiveGateway } from "../run/live-gateway.ts";
import type { Arguments, CommandResult, Surroundings } from "./command.ts";

/** `gwc run`: serves until a signal ends the process. A result only when it can't start. */
export async function run(
  { options, flags }: Arguments,
  { host, isColored, say }: Surroundings,
): Promise<CommandResult> {
  const live = await LiveGateway.open({
    file: options.file ?? "",
    isStrict: flags.has("strict"),
    isColored: isColored.stderr,
    host,
    say,
  });
  if (!(live instanceof LiveGateway)) return { exitCode: 1, stderr: live.talk };
  const { endOnSignal } = await import("gwc/runtime/gateway/start");
  endOnSignal(live.running);
  return new Promise(() => {});
}

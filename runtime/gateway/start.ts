import { bugText } from "../process/bug-text.ts";
import { writeError } from "../process/operator-errors.ts";
import { StartupError } from "../process/startup-error.ts";
import { bundleInfo } from "./build-info.ts";
import { isOnlyChecked } from "./command-line.ts";
import type { Gateway } from "./definition.ts";
import { checkGateway, openGateway, type RunningGateway } from "./gateway.ts";

/**
 * Runs a gateway as this process. SIGTERM, SIGINT and SIGHUP shut it down and exit with 0; a second signal exits at once. If
 * the gateway cannot start, the process exits with 1 and one line that says why. With `--check` it exits before it opens a port.
 */
export async function startGateway(gateway: Gateway): Promise<RunningGateway> {
  try {
    const settings = { defaultAddress: EVERY_ADDRESS, build: bundleInfo };
    if (isOnlyChecked()) {
      checkGateway(gateway, settings);
      process.stdout.write(`${gateway.name} can start: its environment and files are complete\n`);
      process.exit(0);
    }
    const opening = openGateway(gateway, settings);
    // The kernel drops signals that the first process of a container does not handle, so startup handles them, too.
    const close = async () => (await opening).close();
    endOnSignal({ close }, ["SIGTERM", "SIGINT", "SIGHUP"]);
    const running = await opening;
    logUncaughtErrors(gateway);
    return running;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    writeError(error.message, { configured: gateway.accessLog.format });
    process.exit(1);
  }
}

/** Default address of a bundle: all addresses, because others reach a container by its own. */
export const EVERY_ADDRESS = "0.0.0.0";

/** Shuts the gateway down at one of the signals and exits with 0; a second signal exits at once. */
export function endOnSignal(
  running: Pick<RunningGateway, "close">,
  signals: readonly NodeJS.Signals[],
): void {
  let isEnding = false;
  const end = () => {
    if (isEnding) process.exit(1);
    isEnding = true;
    void running.close().then(() => process.exit(0));
  };
  for (const signal of signals) process.on(signal, end);
}

/**
 * Logs uncaught exceptions with their stack on stderr. They are bugs in the handling of one request or stream; ending the
 * process would abort all others. Errors of code that users wrote name their module instead.
 */
export function logUncaughtErrors({ lateErrorText }: Pick<Gateway, "lateErrorText">): void {
  const report = (error: unknown) => {
    const text = lateErrorText?.(error);
    if (text === undefined) writeError(`bug: ${bugText(error)}`, { kind: "bug" });
    else writeError(text);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
}

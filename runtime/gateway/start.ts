import { bugText } from "../process/bug-text.ts";
import { StartupError } from "../process/startup-error.ts";
import { bundleInfo } from "./build-info.ts";
import type { Gateway } from "./definition.ts";
import { openGateway, type RunningGateway } from "./gateway.ts";

/**
 * Runs a gateway as this process: SIGTERM, SIGINT and SIGHUP drain it and end the process with 0, a second signal ends it
 * at once. When it can't start, the process ends with 1 and one line that says why.
 */
export async function startGateway(gateway: Gateway): Promise<RunningGateway> {
  try {
    const settings = { defaultAddress: EVERY_ADDRESS, build: bundleInfo };
    const running = await openGateway(gateway, settings);
    endOnSignal(running, ["SIGTERM", "SIGINT", "SIGHUP"]);
    logUncaughtErrors();
    return running;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exit(1);
  }
}

/** A bundle is open on every address: a container's own is the one that others reach. */
export const EVERY_ADDRESS = "0.0.0.0";

/** Any of the signals drains the gateway and ends the process with 0; a second one ends it at once. */
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
 * An exception that nobody caught is a bug in the handling of one request or stream; ending the process would break all
 * others. It shows on stderr with its stack.
 */
export function logUncaughtErrors(): void {
  const report = (error: unknown) => {
    process.stderr.write(`bug: ${bugText(error)}\n`);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
}

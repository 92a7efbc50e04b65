import { bugText } from "../../process/bug-text.ts";
import { hookErrorText, policyPlace } from "./policy-lines.ts";

/**
 * Formats an error that code of a policy threw outside of its hooks, such as in a timer; `undefined` for errors of other code.
 */
export function lateErrorText(error: unknown): string | undefined {
  return errorText(error, "failed outside of a hook");
}

/** Formats an error that the module of a policy threw while it was loaded; `undefined` for errors of other code. */
export function loadErrorText(error: unknown): string | undefined {
  return errorText(error, "cannot be loaded");
}

/** Ends the process with the module of a policy that throws while the modules of a gateway load: nothing can catch that. */
export function explainLoading(): void {
  const explain = (error: unknown) => {
    const text = loadErrorText(error);
    // Others explain errors of the environment.
    if (text === undefined && process.listenerCount("uncaughtException") > 0) return;
    process.stderr.write(`error: ${text ?? bugText(error)}\n`);
    process.exit(1);
  };
  process.once("uncaughtException", explain);
  setImmediate(() => process.off("uncaughtException", explain));
}

function errorText(error: unknown, what: string): string | undefined {
  const place = policyPlace(error);
  return place && `${place.replace(/:\d+$/, "")} ${what}: ${hookErrorText(error)}`;
}

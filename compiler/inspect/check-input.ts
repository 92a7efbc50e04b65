import { gatewayName } from "../1-parse/gateway-name.ts";
import { type Checked, checkFiles } from "../compile.ts";
import { type Finding, findingsOf } from "../diagnostics/report/findings.ts";
import type { Host } from "../host.ts";

/** Checked files, with their diagnostics as findings. */
export interface CheckedInput extends Checked {
  readonly findings: readonly Finding[];
}

/**
 * Checks files; `build`, `check` and `run` all begin so. `gateway` is NAMESPACE/NAME of the one that is wanted, of
 * manifests with several.
 */
export function checkInput(
  files: readonly string[],
  host: Host,
  isStrict: boolean,
  gateway?: string,
  isSingle = false,
): CheckedInput {
  const checked = checkFiles(files, host, {
    name: gatewayName(files),
    isStrict,
    gateway,
    isSingle,
  });
  return { ...checked, findings: findingsOf(checked.diagnostics, checked.files, isStrict) };
}

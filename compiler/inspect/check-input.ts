import { gatewayName } from "../1-parse/gateway-name.ts";
import { type Checked, checkFiles } from "../compile.ts";
import { type Finding, findingsOf } from "../diagnostics/report/findings.ts";
import type { Host } from "../host.ts";

/** Checked files, with their diagnostics as findings. */
export interface CheckedInput extends Checked {
  readonly findings: readonly Finding[];
}

/** What becomes of the gateways of an input. */
export interface InputUse {
  /** One process serves one: several are a mistake. */
  readonly isSingle?: boolean;
  /** A controller delivers Secrets and ConfigMaps to them, of whatever namespace. */
  readonly isDelivered?: boolean;
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
  { isSingle = false, isDelivered = false }: InputUse = {},
): CheckedInput {
  const checked = checkFiles(files, host, {
    name: gatewayName(files),
    isStrict,
    gateway,
    isSingle,
    isDelivered,
  });
  return { ...checked, findings: findingsOf(checked.diagnostics, checked.files, isStrict) };
}

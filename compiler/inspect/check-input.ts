import { gatewayName } from "../1-parse/gateway-name.ts";
import { type Checked, checkFiles } from "../compile.ts";
import { type Finding, findingsOf } from "../diagnostics/report/findings.ts";
import type { Host } from "../host.ts";

/** Checked files with their diagnostics as findings. */
export interface CheckedInput extends Checked {
  readonly findings: readonly Finding[];
}

/** Use of the gateways of an input, which affects what is valid. */
export interface InputUse {
  /** Whether one process serves the input, so that several gateways are a mistake. */
  readonly isSingle?: boolean;
  /** Whether a controller delivers Secrets and ConfigMaps, which may then be in any namespace. */
  readonly isDelivered?: boolean;
  /** Whether manifests with mistakes are read as a controller reads them. */
  readonly readsParts?: boolean;
}

/**
 * Checks files, as the first step of every command. `gateway` selects one Gateway (NAMESPACE/NAME) of manifests with
 * several.
 */
export function checkInput(
  files: readonly string[],
  host: Host,
  isStrict: boolean,
  gateway?: string,
  { isSingle = false, isDelivered = false, readsParts = false }: InputUse = {},
): CheckedInput {
  const checked = checkFiles(files, host, {
    name: gatewayName(files),
    isStrict,
    gateway,
    isSingle,
    isDelivered,
    readsParts,
  });
  return { ...checked, findings: findingsOf(checked.diagnostics, checked.files, isStrict) };
}

/** Lines of custom policies' modules by lines of a bundle. */
export interface PolicyLines {
  /** `from`: first line of the module in the bundle; `lines`: for each line from there that of the module, 0 if unknown. */
  readonly [module: string]: { readonly from: number; readonly lines: readonly number[] };
}

/** The table of this bundle; a gateway that is not bundled has none (compiler/4-emit/policy-lines.ts). */
declare const GWC_POLICY_LINES: PolicyLines;

const policyLines: PolicyLines = typeof GWC_POLICY_LINES === "undefined" ? {} : GWC_POLICY_LINES;

/** Returns the topmost line of a stack that is in a policy's module: `policies/tenant.ts:12`; `undefined` if there is none. */
function placeInPolicy(stack: string): string | undefined {
  for (const line of stack.split("\n")) {
    const own = /(?:^|[/(\s])(policies\/[^():]+\.ts:\d+)/.exec(line)?.[1];
    if (own !== undefined) return own;
    const number = /^\s+at (?!.*\bnode:).*:(\d+):\d+\)?$/.exec(line)?.[1];
    const found = number === undefined ? undefined : moduleLine(Number(number));
    if (found !== undefined) return found;
  }
  return undefined;
}

function moduleLine(bundled: number): string | undefined {
  for (const [module, { from, lines }] of Object.entries(policyLines)) {
    const line = lines[bundled - from];
    if (line !== undefined && line > 0) return `${module}:${line}`;
  }
  return undefined;
}

/** Returns the line of a policy's module that threw an error: `policies/tenant.ts:12`; `undefined` if none did. */
export function policyPlace(error: unknown): string | undefined {
  try {
    const stack = error instanceof Error ? error.stack : undefined;
    return typeof stack === "string" ? placeInPolicy(stack) : undefined;
  } catch {
    // Getters and proxies of policies may throw.
    return undefined;
  }
}

/** Formats an error with its line in a policy's module. */
export function hookErrorText(error: unknown): string {
  try {
    if (!(error instanceof Error)) return "threw something other than an Error";
    const { name, message } = error;
    const place = policyPlace(error);
    return `${name}: ${message}${place === undefined ? "" : ` (${place})`}`;
  } catch {
    // Getters and proxies of policies may throw.
    return "threw an Error that cannot be read";
  }
}

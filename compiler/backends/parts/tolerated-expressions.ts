import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import { isError } from "../../diagnostics/diagnostic.ts";

/** Stands for an invalid expression that counts as one that fails for every request. */
export const FAILED = "failed";

/**
 * Resolves an expression of a policy that fails safely: one whose failure denies, or only omits a value. If its
 * manifests are served in part, mistakes are tolerated and the result is `FAILED`. Otherwise they are errors, and
 * the result is `undefined`.
 */
export function tolerated<Value extends object>(
  { resource }: Origin,
  diagnostics: Diagnostics,
  resolve: (diagnostics: Diagnostics) => Value | undefined,
): Value | typeof FAILED | undefined {
  if (!diagnostics.isTolerant || resource?.name.startsWith("GatewayPolicy ") !== true)
    return resolve(diagnostics);
  const own = diagnostics.separate();
  const found = resolve(own);
  const isWrong = own.list.some((each) => isError(each, false));
  for (const each of own.list)
    diagnostics.add(isError(each, false) ? { ...each, isTolerated: true } : each);
  return isWrong ? FAILED : found;
}

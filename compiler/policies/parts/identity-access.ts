import type { IdentityCheck, SettingsChange } from "../../model/access.ts";

type IdentityMode = "strict" | "optional" | "permissive";

/** Returns an identity as a condition of access. */
export function identityCheck(variable: string, mode: IdentityMode, proof: string): IdentityCheck {
  return { kind: "identity", variable, isRequired: mode === "strict", proof };
}

/**
 * Reports a change in the treatment of invalid credentials, which are ignored in mode `permissive`. Whether an
 * identity is required is up to `identityCheck`.
 */
export function modeChange(before: IdentityMode, after: IdentityMode): readonly SettingsChange[] {
  const passes = (mode: IdentityMode): boolean => mode === "permissive";
  if (passes(before) === passes(after)) return [];
  const direction = passes(after) ? "opens" : "closes";
  const text = `mode ${before} -> ${after}: invalid credentials ${passes(after) ? "pass" : "are refused"}`;
  return [{ direction, text }];
}

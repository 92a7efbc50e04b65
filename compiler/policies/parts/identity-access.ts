import type { IdentityCheck, SettingsChange } from "../../model/access.ts";

type IdentityMode = "strict" | "optional" | "permissive";

/** An identity as a condition of access. */
export function identityCheck(variable: string, mode: IdentityMode, proof: string): IdentityCheck {
  return { kind: "identity", variable, isRequired: mode === "strict", proof };
}

/**
 * What another mode means for invalid credentials, which count as none where the mode is permissive. Whether someone has
 * to be known is said by `identityCheck`.
 */
export function modeChange(before: IdentityMode, after: IdentityMode): readonly SettingsChange[] {
  const passes = (mode: IdentityMode): boolean => mode === "permissive";
  if (passes(before) === passes(after)) return [];
  const direction = passes(after) ? "opens" : "closes";
  const text = `mode ${before} -> ${after}: invalid credentials ${passes(after) ? "pass" : "are refused"}`;
  return [{ direction, text }];
}

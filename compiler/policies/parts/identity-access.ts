import type { AccessCheck, SettingsChange } from "../../model/access.ts";

type IdentityMode = "strict" | "optional" | "permissive";

/** From the one that lets fewest requests pass to the one that lets most. */
const MODES: readonly IdentityMode[] = ["strict", "optional", "permissive"];

/** An identity as a condition of access. */
export function identityCheck(variable: string, mode: IdentityMode, proof: string): AccessCheck {
  return { kind: "identity", variable, isRequired: mode === "strict", proof };
}

/** What another mode means for requests without a valid credential. */
export function modeChange(before: IdentityMode, after: IdentityMode): readonly SettingsChange[] {
  if (before === after) return [];
  const direction = MODES.indexOf(after) > MODES.indexOf(before) ? "opens" : "closes";
  return [{ direction, text: `mode ${before} -> ${after}` }];
}

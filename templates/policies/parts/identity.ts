import { code } from "../../code/code.ts";
import type { Code, ImportSymbol } from "../../code/hole.ts";
import { name } from "../../code/names.ts";
import type { PolicyCode } from "../policy.ts";

/** Names of the functions that check a credential, by mode. */
export type IdentityChecks = Readonly<Record<"strict" | "optional" | "permissive", ImportSymbol>>;

type IdentityCode = Pick<PolicyCode, "steps" | "unread" | "isAsync">;

/** Writes the steps of a check: they declare the identity, or end the exchange. */
export function identitySteps(
  variable: string,
  mode: keyof IdentityChecks,
  checks: IdentityChecks,
  credentials: Code,
): IdentityCode {
  return stepsOf(variable, mode, code`${checks[mode]}(exchange, ${credentials})`);
}

/** Writes the same for an async check. */
export function awaitedIdentitySteps(
  variable: string,
  mode: keyof IdentityChecks,
  checks: IdentityChecks,
  credentials: Code,
): IdentityCode {
  const check = code`await ${checks[mode]}(exchange, ${credentials})`;
  return { ...stepsOf(variable, mode, check), isAsync: true };
}

function stepsOf(variable: string, mode: keyof IdentityChecks, check: Code): IdentityCode {
  const declared = code`const ${name(variable)} = ${check};`;
  if (mode === "permissive") {
    return { steps: [declared], unread: [code`${check};`] };
  }
  return {
    steps: [declared, code`if (${name(variable)} === undefined) return;`],
  };
}

/** The verdict of rules on a request, a connection or an MCP item. */
export interface RuleVerdict {
  readonly isAllowed: boolean;
  /** The rule that denies it, by its place in the configuration; for the log, never for clients. */
  readonly rule: string;
}

/** Allowed: no rule denies, and one allows if that is required. */
export const allowed: RuleVerdict = { isAllowed: true, rule: "" };

/** Returns the function that creates a policy's denials. `policy`: its place in the configuration. */
export function denialsOf(policy: string): (rule: string) => RuleVerdict {
  return (rule) => ({ isAllowed: false, rule: `${policy}: ${rule}` });
}

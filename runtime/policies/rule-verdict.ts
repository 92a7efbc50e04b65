/** What rules say about a request, a connection or an MCP item. */
export interface RuleVerdict {
  readonly isAllowed: boolean;
  /** Which rule forbids it, by its place in the configuration: for the log, never for a client. */
  readonly rule: string;
}

/** No rule forbids it, and one allows it where one has to. */
export const allowed: RuleVerdict = { isAllowed: true, rule: "" };

/** Makes the verdicts of the rules that forbid something. `policy`: where the configuration has their policy. */
export function denialsOf(policy: string): (rule: string) => RuleVerdict {
  return (rule) => ({ isAllowed: false, rule: `${policy}: ${rule}` });
}

import { type Code, code, type Hole, literal, name } from "./code.ts";
import { ifStatement } from "./statements.ts";

/** The condition under which what a local name holds is the hostname of a listener or route; none for every one. */
export function hostConditions(hostname: string, local = "hostname"): readonly Code[] {
  const subject = name(local);
  if (hostname === "*") return [];
  if (hostname.startsWith("*.")) return [code`${subject}.endsWith(${literal(hostname.slice(1))})`];
  return [code`${subject} === ${literal(hostname)}`];
}

/** The statement, under conditions if there are any. */
export function conditional(conditions: readonly Code[], statement: Code): Hole {
  return conditions.length === 0 ? statement : ifStatement(conditions, statement);
}

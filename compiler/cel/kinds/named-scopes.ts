import { childrenOf, dottedName, type Node } from "../parse/ast.ts";
import { parseExpression } from "../parse/parse.ts";
import { Problems } from "../parse/problems.ts";

/** The OAuth scopes that expressions look for, and where. */
export interface NamedScopes {
  /** The claims that hold a token's scopes, sorted: `scope`. */
  readonly claims: readonly string[];
  /** What stands beside them in the expressions, in the order in which it does. */
  readonly scopes: readonly string[];
}

/** The scopes that expressions look for in claims; undefined: they read no such claim, or name no scope. */
export function namedScopes(expressions: readonly string[]): NamedScopes | undefined {
  const roots = expressions.flatMap((text) => parseExpression(text, new Problems()) ?? []);
  const tests = roots.flatMap(testsIn);
  const claims = [...new Set(tests.flatMap(claimsIn))].sort();
  const scopes = [...new Set(tests.flatMap(textsIn))].filter((text) => SCOPE.test(text));
  return scopes.length === 0 ? undefined : { claims, scopes };
}

/** RFC 6749 3.3; RFC 8693 4.2, and what identity providers call it. */
const CLAIMS: readonly string[] = ["scope", "scopes", "scp"];
const SCOPE = /^[!#-[\]-~]+$/;

/** The calls and macros about scopes that an expression joins to what it says: `"a" in jwt.scopes`. */
function testsIn(node: Node): readonly Node[] {
  const isTest = (node.kind === "call" && node.name !== "!") || node.kind === "macro";
  if (isTest) return claimsIn(node).length === 0 ? [] : [node];
  return childrenOf(node).flatMap(testsIn);
}

function claimsIn(node: Node): readonly string[] {
  const claim = claimOf(node);
  return claim === undefined ? childrenOf(node).flatMap(claimsIn) : [claim];
}

function claimOf(node: Node): string | undefined {
  if (node.kind === "select") return isToken(node.operand) ? claimNamed(node.field) : undefined;
  if (node.kind !== "index" || !isToken(node.operand) || node.index.kind !== "literal")
    return undefined;
  const { literal } = node.index;
  return literal.kind === "string" ? claimNamed(literal.value) : undefined;
}

function isToken(node: Node): boolean {
  const name = dottedName(node);
  return name === "jwt" || name === "auth.claims";
}

function claimNamed(name: string): string | undefined {
  return CLAIMS.includes(name) ? name : undefined;
}

function textsIn(node: Node): readonly string[] {
  if (claimOf(node) !== undefined) return [];
  if (node.kind === "literal") return node.literal.kind === "string" ? [node.literal.value] : [];
  return childrenOf(node).flatMap(textsIn);
}

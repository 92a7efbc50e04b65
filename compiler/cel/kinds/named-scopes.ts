import { childrenOf, dottedName, type Node } from "../parse/ast.ts";
import { parseExpression } from "../parse/parse.ts";
import { Problems } from "../parse/problems.ts";

/** OAuth scopes that expressions look for, and the claims in which they do. */
export interface NamedScopes {
  /** Claims with the scopes of a token, sorted: `scope`. */
  readonly claims: readonly string[];
  /** Strings that expressions compare with these claims, in order. */
  readonly scopes: readonly string[];
}

/** Returns the scopes that expressions look for in claims; `undefined` if they read no such claim, or no scope. */
export function namedScopes(expressions: readonly string[]): NamedScopes | undefined {
  const roots = expressions.flatMap((text) => parseExpression(text, new Problems()) ?? []);
  const tests = roots.flatMap(testsIn);
  const claims = [...new Set(tests.flatMap(claimsIn))].sort();
  const scopes = [...new Set(tests.flatMap(textsIn))].filter((text) => SCOPE.test(text));
  return scopes.length === 0 ? undefined : { claims, scopes };
}

/** RFC 6749 3.3; RFC 8693 4.2, and names of identity providers. */
const CLAIMS: readonly string[] = ["scope", "scopes", "scp"];
const SCOPE = /^[!#-[\]-~]+$/;

/** Returns the calls and macros of an expression that test scopes: `"a" in jwt.scopes`. */
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

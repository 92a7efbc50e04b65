import type { PolicyKind, PolicyUse } from "../../../compiler/ir/policies.ts";
import { bufferStep } from "../../code/buffer-step.ts";
import { code } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import type { Hole, ImportSymbol } from "../../code/hole.ts";
import { name } from "../../code/names.ts";
import type { Trace } from "../../code/trace.ts";
import type { RouteVariables } from "../../code/variables.ts";
import { templateOf } from "../index.ts";
import type { PolicyCode } from "../policy.ts";

/** Context of a chain of policies. */
export interface ChainScope {
  readonly phase: "PreRouting" | "PostRouting";
  readonly trace: Trace;
  readonly expressions: Expressions;
  /** Maximum size of a buffered body, in bytes. */
  readonly maxBufferSize: number;
  /** Whether several threads serve the gateway. */
  readonly hasThreads: boolean;
  /** Name of the module's function, unique in the gateway. */
  readonly id: string;
  /** Whether a backend applies timeouts and retries itself. */
  readonly keepsLimits: boolean;
  /** Whether requests are forwarded to a backend. */
  readonly forwards: boolean;
  /** Variables of the function, which policies extend. */
  readonly variables: RouteVariables;
  /** Names of the gateway's tools that call another one, which the arguments name. */
  readonly toolCallers: readonly string[];
}

/** A policy of a chain: its template and its code. */
export interface ChainPart {
  readonly code: PolicyCode;
  /** CEL variable with the identity that its steps declare. */
  readonly identity: string | undefined;
  readonly isBeforeGuard: boolean;
}

/** Writes the code of policies, one by one, in request order. */
export function policyParts(
  policies: readonly PolicyUse[],
  scope: ChainScope,
): readonly ChainPart[] {
  const parts = policies.map((use) => policyPart(use, policies, scope));
  // Policies that the configuration puts before such a policy precede the guard, too.
  const last = parts.findLastIndex(({ isBeforeGuard }) => isBeforeGuard);
  return parts.map((part, index) => ({ ...part, isBeforeGuard: index <= last }));
}

function policyPart<Kind extends PolicyKind>(
  use: PolicyUse<Kind>,
  policies: readonly PolicyUse[],
  scope: ChainScope,
): ChainPart {
  const { code: make, identity, attributes, isBeforeGuard = false } = templateOf(use.kind);
  for (const variable of attributes?.(use.settings) ?? []) scope.variables.establish(variable);
  const openStepUp = policies.map(stepUpOf).find((each) => each !== undefined);
  const made = make(use, { ...scope, policies, openStepUp });
  if (identity !== undefined) scope.variables.declareIdentity(identity);
  return { code: made, identity, isBeforeGuard };
}

function stepUpOf({ kind }: PolicyUse): ImportSymbol | undefined {
  return templateOf(kind).openStepUp;
}

/** Declares the variables that a listener's policy puts on the exchange for its routes. */
export function establishAttributes<Kind extends PolicyKind>(
  { kind, settings }: PolicyUse<Kind>,
  variables: RouteVariables,
): void {
  const { identity, attributes } = templateOf(kind);
  if (identity !== undefined) variables.establishIdentity(identity);
  for (const variable of attributes?.(settings) ?? []) variables.establish(variable);
}

/** Adds the step that stores the identity on the exchange, for routes and the access log. */
export function keepIdentity(part: ChainPart, variables: RouteVariables): ChainPart {
  const { code: made, identity } = part;
  if (identity === undefined) return part;
  const value = variables.argument(identity);
  const kept = code`exchange.attributes.${name(identity)} = ${value};`;
  return { ...part, code: { ...made, steps: [...made.steps, kept] } };
}

/** Returns whether a function with these policies is async. */
export function isAsyncChain(parts: readonly ChainPart[]): boolean {
  return parts.some(({ code: made }) => made.isAsync === true || made.readsRequestBody === true);
}

/** Returns the statements of each policy; the body is buffered before the first one that reads it. */
export function policySteps(
  parts: readonly ChainPart[],
  { variables, maxBufferSize }: ChainScope,
): readonly { readonly isBeforeGuard: boolean; readonly statements: readonly Hole[] }[] {
  const firstReader = parts.find(({ code: made }) => made.readsRequestBody === true);
  return parts.map((part) => {
    const { code: made, identity, isBeforeGuard } = part;
    const isRead = identity === undefined || variables.isRead(identity);
    const own = isRead ? made.steps : (made.unread ?? made.steps);
    const statements = part === firstReader ? [bufferStep(maxBufferSize), ...own] : own;
    return { isBeforeGuard, statements };
  });
}

/** Returns a summary: `cors, jwtAuth (strict)`. */
export function policiesText(policies: readonly PolicyUse[]): string {
  return policies.map(policyText).join(", ");
}

function policyText<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>): string {
  const detail = templateOf(kind).detail?.(settings);
  return detail === undefined ? kind : `${kind} (${detail})`;
}

/** Returns whether a policy before routing runs checks when the request is a model call. */
export function asksBeforeCalls<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): boolean {
  return templateOf(kind).asksBeforeCalls?.(settings) === true;
}

/** Returns the variables that functions of policies read from the exchange. */
export function policyReads(policies: readonly PolicyUse[]): readonly string[] {
  return policies.flatMap(ownReads);
}

function ownReads<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>): readonly string[] {
  return templateOf<Kind>(kind).reads?.(settings) ?? [];
}

/** Returns the origins of pages that policies allow. */
export function allowedOrigins(policies: readonly PolicyUse[]): readonly string[] {
  return policies.flatMap(ownOrigins);
}

function ownOrigins<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly string[] {
  return templateOf(kind).allowedOrigins?.(settings) ?? [];
}

import type { PolicyKind, PolicyUse } from "../../../compiler/ir/policies.ts";
import { code, type Hole, imported, literal, name } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import type { Trace } from "../../code/trace.ts";
import type { RouteVariables } from "../../code/variables.ts";
import { policyCode } from "../index.ts";
import type { PolicyCode } from "../policy.ts";

/** What the code of a chain of policies is made with. */
export interface ChainScope {
  readonly phase: "PreRouting" | "PostRouting";
  readonly trace: Trace;
  readonly expressions: Expressions;
  /** The most bytes of a body that is read as a whole. */
  readonly maxBufferSize: number;
  /** What the function holds; the policies add to it. */
  readonly variables: RouteVariables;
}

/** The code of policies, one by one, in request order. */
export function policyCodes(
  policies: readonly PolicyUse[],
  scope: ChainScope,
): readonly PolicyCode[] {
  return policies.map((use) => {
    const made = policyCode(use, { ...scope, policies });
    if (made.defines !== undefined) scope.variables.declare(made.defines);
    return made;
  });
}

/** What a policy found out is kept for the routes, and for the access log. */
export function attributes(
  made: PolicyCode,
  variable: string,
  variables: RouteVariables,
): PolicyCode {
  const value = variables.argument(variable);
  return {
    ...made,
    steps: [...made.steps, code`exchange.attributes.${name(variable)} = ${value};`],
  };
}

/** Whether a function with these policies has to wait. */
export function isAsyncChain(codes: readonly PolicyCode[]): boolean {
  return codes.some((each) => each.isAsync === true || each.readsRequestBody === true);
}

/** The statements of each policy; the request is held for its body before the first one that reads it. */
export function policySteps(
  policies: readonly PolicyUse[],
  codes: readonly PolicyCode[],
  { variables, maxBufferSize }: ChainScope,
): readonly { readonly kind: PolicyKind; readonly statements: readonly Hole[] }[] {
  const firstReader = codes.find(({ readsRequestBody }) => readsRequestBody === true);
  return codes.map((made, index) => {
    const isRead = made.defines === undefined || variables.isRead(made.defines);
    const own = isRead ? made.steps : (made.unread ?? made.steps);
    const statements = made === firstReader ? [bufferStep(maxBufferSize), ...own] : own;
    // The codes were made of the policies, one by one.
    return { kind: (policies[index] as PolicyUse).kind, statements };
  });
}

/** `cors, jwtAuth (strict)` */
export function policiesText(policies: readonly PolicyUse[]): string {
  return policies.map((use) => `${use.kind}${modeText(use)}`).join(", ");
}

const MODED: readonly PolicyKind[] = ["jwtAuth", "mcpAuthentication", "basicAuth", "apiKey"];

function modeText({ kind, settings }: PolicyUse): string {
  return MODED.includes(kind) && "mode" in settings ? ` (${settings.mode})` : "";
}

/** Holds the request until its body is there. */
function bufferStep(limit: number): Hole {
  const buffer = imported("gwc/runtime/http/body/buffer-body", "bufferBody");
  return code`if (!(await ${buffer}(exchange, ${literal(limit)}))) return;`;
}

import { accessOf } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { Rule } from "../../model/rules.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import { type NodeId, type Operation, operation } from "../effect/diagram/diagrams.ts";
import type { RuleModel } from "../effect/model/rule-model.ts";
import { runRules } from "../effect/rules/run-rules.ts";

/** What a chain of policies decides by identities and rules, as far as one server's items are concerned. */
export interface AccessChain {
  /** The identities that it looks for, and whether somebody has to be known. */
  readonly identities: readonly { readonly variable: string; readonly isRequired: boolean }[];
  /** Rules over requests; undefined: there are none. */
  readonly request: readonly Rule[] | undefined;
  /** Rules over items; undefined: there are none. */
  readonly mcp: readonly Rule[] | undefined;
}

/** Why a chain lets a request pass, or not. */
export type ChainReason =
  | { readonly kind: "identity"; readonly variable: string }
  | { readonly kind: "rule"; readonly rule: Rule }
  /** No rule decides. */
  | { readonly kind: "default" };

/** What a chain decides. */
export interface ChainDecision {
  readonly isAllowed: boolean;
  readonly reason: ChainReason;
}

/** What policies decide; `target`: the server whose items are meant. */
export function chainOf(policies: readonly PolicyUse[], target: string | undefined): AccessChain {
  const checks = policies.flatMap(accessOf);
  const rules = checks.filter((check) => check.kind === "rules");
  const ofItems = rules.filter(
    ({ phase, targets }) =>
      phase === "mcp" &&
      (targets === undefined || targets.names.includes(target ?? "") !== targets.isExcluded),
  );
  return {
    identities: checks.filter((check) => check.kind === "identity"),
    request: joined(rules.filter(({ phase }) => phase === "request")),
    mcp: joined(ofItems),
  };
}

function joined(
  found: readonly { readonly rules: readonly Rule[] }[],
): readonly Rule[] | undefined {
  const rules = found.flatMap((each) => each.rules);
  return rules.length === 0 ? undefined : rules;
}

/** The same decision for the same chain, whatever its places: rules as they are written. */
export function chainKey({ identities, request, mcp }: AccessChain): string {
  const texts = (rules: readonly Rule[] | undefined) =>
    rules?.map(({ action, text }) => `${action} ${text}`);
  return JSON.stringify([
    identities.map(({ variable, isRequired }) => [variable, isRequired]),
    texts(request),
    texts(mcp),
  ]);
}

/** Runs a chain's compiled rules on a request. */
export function runChain(chain: AccessChain, data: RequestData): ChainDecision {
  const known = seenBy(chain, data);
  for (const { variable, isRequired } of chain.identities)
    if (isRequired && (known[variable] ?? null) === null)
      return { isAllowed: false, reason: { kind: "identity", variable } };
  const stages = [chain.request, hasItem(data) ? chain.mcp : undefined];
  let last: ChainDecision = { isAllowed: true, reason: { kind: "default" } };
  for (const rules of stages) {
    if (rules === undefined) continue;
    const { isAllowed, rule: index } = runRules(rules, known);
    const rule = index === undefined ? undefined : rules[index];
    last = { isAllowed, reason: rule === undefined ? { kind: "default" } : { kind: "rule", rule } };
    if (!isAllowed) return last;
  }
  return last;
}

/** Nobody is known by credentials that a chain does not look for. */
function seenBy({ identities }: AccessChain, data: RequestData): RequestData {
  const hidden = IDENTITIES.filter((root) => !identities.some(({ variable }) => variable === root));
  return { ...data, ...Object.fromEntries(hidden.map((root) => [root, null])) };
}

const IDENTITIES = ["jwt", "apiKey", "basicAuth"];

function hasItem({ mcp }: RequestData): boolean {
  return ["tool", "prompt", "resource"].some((kind) => Object(mcp)[kind] !== undefined);
}

/** A chain as a diagram of `+` and `-`. */
export function chainDiagram(chain: AccessChain, model: RuleModel): NodeId {
  const { diagrams } = model;
  const [passed, refused] = [diagrams.terminal("+"), diagrams.terminal("-")];
  const stage = (rules: readonly Rule[] | undefined): NodeId =>
    rules === undefined ? passed : diagrams.map(SIGN(), model.decision(rules));
  const items = select(
    model,
    ["mcp", "item"],
    (example) => example === "none",
    passed,
    stage(chain.mcp),
  );
  const rules = diagrams.apply(both(), stage(chain.request), items);
  const seen = diagrams.restrict(rules, (level) => {
    const variable = model.variables[level];
    const root = variable?.kind === "value" && variable.path.length === 1 ? variable.path[0] : "";
    const isHidden =
      IDENTITIES.includes(root ?? "") && !chain.identities.some((each) => each.variable === root);
    return isHidden ? [0] : undefined;
  });
  return chain.identities.reduce(
    (below, { variable, isRequired }) =>
      isRequired ? select(model, [variable], (example) => example === null, refused, below) : below,
    seen,
  );
}

function SIGN(): Operation {
  return operation((text) => text.charAt(0));
}

function both(): Operation {
  return operation((a, b) => (a === "-" ? a : b));
}

/** One diagram where the value at a path is of some classes, another elsewhere; the other where nobody asks for it. */
function select(
  model: RuleModel,
  path: readonly string[],
  isMeant: (example: unknown) => boolean,
  there: NodeId,
  elsewhere: NodeId,
): NodeId {
  const { diagrams, variables } = model;
  const level = variables.findIndex(
    (each) => each.kind === "value" && each.path.join(".") === path.join("."),
  );
  const variable = variables[level];
  if (variable?.kind !== "value") return elsewhere;
  const test = variable.classes.map(({ example }) =>
    diagrams.terminal(isMeant(example) ? "1" : "0"),
  );
  return diagrams.select(diagrams.choice(level, test), there, elsewhere);
}

import { accessOf } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { Rule } from "../../model/rules.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import { type NodeId, type Operation, operation } from "../effect/diagram/diagrams.ts";
import type { RuleModel } from "../effect/model/rule-model.ts";
import { runRules } from "../effect/rules/run-rules.ts";

/** The identities and rules of a chain of policies that apply to one server's items. */
export interface AccessChain {
  /** Identities that the chain checks, and whether each is required. */
  readonly identities: readonly { readonly variable: string; readonly isRequired: boolean }[];
  /** Stages of rules, all of which must allow a request. */
  readonly stages: readonly RuleStage[];
}

/** Rules of one policy, for requests or MCP items. */
export interface RuleStage {
  readonly phase: "request" | "mcp";
  readonly rules: readonly Rule[];
}

/** Reason for a chain's decision. */
export type ChainReason =
  | { readonly kind: "identity"; readonly variable: string }
  | { readonly kind: "rule"; readonly rule: Rule }
  /** No rule applies. */
  | { readonly kind: "default" };

/** Decision of a chain. */
export interface ChainDecision {
  readonly isAllowed: boolean;
  readonly reason: ChainReason;
}

/** Creates the chain of policies for the items of a server. */
export function chainOf(policies: readonly PolicyUse[], target: string | undefined): AccessChain {
  const checks = policies.flatMap(accessOf);
  return {
    identities: checks.filter((check) => check.kind === "identity"),
    stages: checks
      .filter((check) => check.kind === "rules")
      .filter(
        ({ targets }) => targets?.names.includes(target ?? "") !== (targets?.isExcluded ?? true),
      )
      .filter(({ rules }) => rules.length > 0),
  };
}

/** Lists all rules of a chain. */
export function rulesOfChain({ stages }: AccessChain): readonly Rule[] {
  return stages.flatMap(({ rules }) => rules);
}

/** Returns a key that is equal for chains with the same rules, wherever they are located. */
export function chainKey({ identities, stages }: AccessChain): string {
  return JSON.stringify([
    identities.map(({ variable, isRequired }) => [variable, isRequired]),
    stages.map(({ phase, rules }) => [phase, rules.map(({ action, text }) => `${action} ${text}`)]),
  ]);
}

/** Runs a chain's compiled rules on a request. */
export function runChain(chain: AccessChain, data: RequestData): ChainDecision {
  const known = seenBy(chain, data);
  for (const { variable, isRequired } of chain.identities)
    if (isRequired && (known[variable] ?? null) === null)
      return { isAllowed: false, reason: { kind: "identity", variable } };
  let last: ChainDecision = { isAllowed: true, reason: { kind: "default" } };
  for (const { phase, rules } of chain.stages) {
    if (phase === "mcp" && !hasItem(data)) continue;
    const { isAllowed, rule: index } = runRules(rules, known);
    const rule = index === undefined ? undefined : rules[index];
    last = { isAllowed, reason: rule === undefined ? { kind: "default" } : { kind: "rule", rule } };
    if (!isAllowed) return last;
  }
  return last;
}

/** Removes identities that the chain does not check. */
function seenBy({ identities }: AccessChain, data: RequestData): RequestData {
  const hidden = IDENTITIES.filter((root) => !identities.some(({ variable }) => variable === root));
  return { ...data, ...Object.fromEntries(hidden.map((root) => [root, null])) };
}

const IDENTITIES = ["jwt", "apiKey", "basicAuth"];

function hasItem({ mcp }: RequestData): boolean {
  return ["tool", "prompt", "resource"].some((kind) => Object(mcp)[kind] !== undefined);
}

/** Returns the decision of a chain as a diagram of `+` and `-`. */
export function chainDiagram(chain: AccessChain, model: RuleModel): NodeId {
  const { diagrams } = model;
  const [passed, refused] = [diagrams.terminal("+"), diagrams.terminal("-")];
  const isNoItem = (example: unknown) => example === "none";
  const stage = ({ phase, rules }: RuleStage): NodeId => {
    const decided = diagrams.map(SIGN(), model.decision(rules));
    return phase === "request"
      ? decided
      : select(model, ["mcp", "item"], isNoItem, passed, decided);
  };
  const rules = chain.stages.reduce(
    (sum, each) => diagrams.apply(both(), sum, stage(each)),
    passed,
  );
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

/** Returns `there` for the classes of a path that `isMeant` selects, else `elsewhere`; also if no rule reads the path. */
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

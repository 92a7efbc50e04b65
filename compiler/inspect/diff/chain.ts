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
  /** What rules decide one after the other: a request passes when each of them lets it pass. */
  readonly stages: readonly RuleStage[];
}

/** The rules of one policy, over requests or over items. */
export interface RuleStage {
  readonly phase: "request" | "mcp";
  readonly rules: readonly Rule[];
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

/** Every rule of a chain. */
export function rulesOfChain({ stages }: AccessChain): readonly Rule[] {
  return stages.flatMap(({ rules }) => rules);
}

/** The same decision for the same chain, whatever its places: rules as they are written. */
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

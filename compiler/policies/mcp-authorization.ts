import { nodesOf } from "../../templates/code/syntax.ts";
import {
  kubernetesRulesSchema,
  lowerKubernetesRules,
  lowerRules,
  type RuleConfig,
  requiredScopes,
  resolveRules,
  rulesOnPaths,
  rulesSchema,
} from "../backends/parts/rules.ts";
import { readsArguments } from "../cel/kinds/listed-arguments.ts";
import type { NamedScopes } from "../cel/kinds/named-scopes.ts";
import { Identifiers } from "../model/identifiers.ts";
import type { Rule } from "../model/rules.ts";
import { type Infer, inPhase, object } from "../schema/schema.ts";
import { checkItemNames } from "./mcp-authorization/item-names.ts";
import type { Policy } from "./policy.ts";

/** `mcpAuthorization` as configured. */
interface McpAuthorizationConfig {
  readonly rules: readonly RuleConfig[];
  /** Targets with rules of their own, which replace `rules`. */
  readonly ofTargets: readonly {
    readonly target: string;
    readonly rules: readonly RuleConfig[];
  }[];
}

/** `mcpAuthorization` resolved. */
interface McpAuthorizationNode {
  readonly rules: readonly Rule[];
  /** Methods that rules may refer to: all strings in rules that read the method, sorted. */
  readonly methods: readonly string[];
  /** Whether a rule reads the arguments of calls. */
  readonly readsArguments: boolean;
  /** `undefined` if none are required. */
  readonly requiredScopes?: NamedScopes | undefined;
  readonly ofTargets: readonly {
    readonly target: string;
    /** Identifier in the generated code, unique among the targets. */
    readonly id: string;
    readonly rules: readonly Rule[];
  }[];
}

const schema = object(
  { rules: inPhase("mcp", rulesSchema) },
  {
    required: ["rules"],
    description:
      "Rules that decide which tools, prompts and resources a caller can see and use. In `policies` of a target, they apply to that target instead of the route's.",
    examples: [{ rules: ['mcp.tool.name == "echo"', { deny: 'mcp.tool.name == "get-env"' }] }],
  },
);

/**
 * Decides which tools, prompts and resources a caller can see and use; the same rules filter lists and refuse
 * calls.
 */
export const mcpAuthorization: Policy<
  "mcpAuthorization",
  McpAuthorizationConfig,
  McpAuthorizationNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesRulesSchema>
> = {
  kind: "mcpAuthorization",
  summary:
    "decides by CEL rules per tool, prompt and resource; lists show only what the caller may use, and calls to anything else fail as unknown",
  scope: ["route", "backend"],
  schema,
  traits: {
    isOfBackend: true,
    actsOn: ["mcp"],
  },
  plannedOnBackend: { instead: "write it on the route, or in `policies` of a target" },
  names: ["authorizeCall", "deniedCall", "callStepUp"],
  access: {
    pathRules: ({ rules, ofTargets }) =>
      rulesOnPaths([...rules, ...ofTargets.flatMap((target) => target.rules)]),
    direction: "closes",
    checks: ({ rules, ofTargets }) => {
      const names = ofTargets.map(({ target }) => target);
      const own = ofTargets.map(({ target, rules: each }) => ({
        kind: "rules" as const,
        phase: "mcp" as const,
        rules: each,
        targets: { names: [target], isExcluded: false },
      }));
      const targets = names.length === 0 ? undefined : { names, isExcluded: true };
      return [...own, { kind: "rules", phase: "mcp", rules, targets }];
    },
    // The solver compares the rules themselves.
    compare: { changes: () => [], rest: () => undefined },
  },
  lowering: {
    merge: "replace",
    lower: ({ rules }, origin) => ({ rules: lowerRules(rules, origin), ofTargets: [] }),
    resolve: ({ rules, ofTargets }, context) => {
      const compiled = resolveRules(rules, "mcp", context);
      if (context.route.itemTargets !== undefined) {
        const all = [rules, ...ofTargets.map((each) => each.rules)].flat();
        checkItemNames(all, context.route.itemTargets, context.diagnostics);
      }
      const names = new Identifiers();
      const targets = ofTargets.flatMap(({ target, rules: own }) => {
        const resolved = resolveRules(own, "mcp", context);
        return resolved === undefined ? [] : [{ target, id: names.take(target), rules: resolved }];
      });
      if (compiled === undefined || targets.length < ofTargets.length) return undefined;
      const all = [...compiled, ...targets.flatMap((each) => each.rules)];
      return {
        rules: compiled,
        methods: [...new Set(all.flatMap(methodsIn))].sort(),
        readsArguments: all.some(({ text }) => readsArguments(text)),
        requiredScopes: requiredScopes(all),
        ofTargets: targets,
      };
    },
  },
  kubernetes: {
    field: "backend.mcp.authorization",
    schema: inPhase("mcp", kubernetesRulesSchema),
    lower: (value, { origin }) => ({ rules: lowerKubernetesRules(value, origin), ofTargets: [] }),
    perTarget: (config, targets) => ({
      rules: config?.rules ?? [],
      ofTargets: [...targets].map(([target, { rules }]) => ({ target, rules })),
    }),
    ofTarget: ({ rules, ofTargets }, target) => ({
      rules: ofTargets.find((each) => each.target === target)?.rules ?? rules,
      ofTargets: [],
    }),
  },
};

function methodsIn({ text, expression: { code, reads } }: Rule): readonly string[] {
  // Such a rule reads the method to tell calls from lists, and its strings are arguments.
  if (readsArguments(text) && !METHOD.test(text)) return [];
  if (
    !reads.some(
      ([variable, field]) => variable === "mcp" && (field === "method" || field === "methodName"),
    )
  )
    return [];
  return [...nodesOf(code)].flatMap((node) =>
    node.kind === "value" && typeof node.value === "string" ? [node.value] : [],
  );
}

const METHOD = /\bmethod(Name)?\b/;

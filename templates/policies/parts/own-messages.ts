import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { PolicyKind, PolicyUse } from "../../../compiler/ir/policies.ts";
import type { RouteNode } from "../../../compiler/ir/program.ts";
import { RouteVariables } from "../../code/variables.ts";
import { templateOf } from "../index.ts";
import type { BackendSteps, OwnMessages } from "../policy.ts";
import type { ChainScope } from "./chain.ts";

/** Returns the variables of the exchange that policies about a route's backend messages read. */
export function ownReads({ backends }: RouteNode): readonly string[] {
  return backends.flatMap(({ ownPolicies = [] }) => ownPolicies).flatMap(readsOf);
}

function readsOf<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>): readonly string[] {
  return templateOf(kind).backendReads?.(settings) ?? [];
}

/** Writes the code of these policies, for each backend that has some. */
export function ownMessages(
  route: RouteNode,
  scope: ChainScope,
): ReadonlyMap<BackendNode, OwnMessages> {
  const { backends, policies } = route;
  const read = new Set(ownReads(route));
  const variables = new RouteVariables();
  for (const variable of read) if (scope.variables.has(variable)) variables.establish(variable);
  const having = backends.filter(({ ownPolicies = [] }) => ownPolicies.length > 0);
  return new Map(
    having.map((node, index) => {
      const suffix = index === 0 ? "" : String(index + 1);
      const parts = (node.ownPolicies ?? []).flatMap(
        (use) => messageCode(use, suffix, { ...scope, variables }, policies) ?? [],
      );
      const made: OwnMessages = {
        declarations: parts.flatMap(({ declarations }) => declarations),
        settings: Object.assign({}, ...parts.map(({ settings }) => settings)),
        admission: parts.flatMap(({ admission = [] }) => admission),
        readsRequestBody: parts.some(({ readsRequestBody }) => readsRequestBody),
      };
      return [node, made] as const;
    }),
  );
}

/** Writes the policies of the route's backends that run before one of them is called. All backends have the same ones. */
export function stepsBeforeBackend(route: RouteNode, scope: ChainScope): readonly BackendSteps[] {
  const { backends, policies } = route;
  const [{ ownPolicies = [] } = {}] = backends.filter((node) => node.ownPolicies !== undefined);
  return ownPolicies.flatMap((use) => backendSteps(use, scope, policies) ?? []);
}

function backendSteps<Kind extends PolicyKind>(
  use: PolicyUse<Kind>,
  scope: ChainScope,
  policies: readonly PolicyUse[],
): BackendSteps | undefined {
  const whole = { ...scope, policies, openStepUp: undefined };
  return templateOf<Kind>(use.kind).beforeBackend?.(use, whole);
}

function messageCode<Kind extends PolicyKind>(
  use: PolicyUse<Kind>,
  suffix: string,
  scope: ChainScope,
  policies: readonly PolicyUse[],
): OwnMessages | undefined {
  const whole = { ...scope, policies, openStepUp: undefined };
  return templateOf<Kind>(use.kind).onBackend?.(use, suffix, whole);
}

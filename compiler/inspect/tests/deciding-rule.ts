import type { TrialOutcome } from "../../../runtime/trial/trial.ts";
import { toolSets } from "../../backends/index.ts";
import { policiesMet } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import type { Rule } from "../../model/rules.ts";
import { chainVerdicts, type PolicyVerdict } from "../access/chain-verdicts.ts";
import { ALWAYS_OPEN } from "../access/item-access.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import type { GatewayTest } from "./test-schema.ts";

/** The listener and route that a request reached. */
export interface ReachedNode {
  readonly listener: ListenerNode;
  /** Route; `undefined` if the listener itself responded. */
  readonly route: RouteNode | undefined;
}

/** Finds the listener and route of an outcome; `undefined` if no listener responded. */
export function reachedNode(
  program: Program,
  { route: name, listener: listenerName, reason }: TrialOutcome,
): ReachedNode | undefined {
  const listeners = program.binds.flatMap((bind) => bind.listeners);
  const named = listeners.filter((each) => each.name === listenerName);
  const found = named.flatMap((listener): readonly ReachedNode[] =>
    listener.routes.filter((each) => each.name === name).map((route) => ({ listener, route })),
  );
  // A refused connection reaches no listener; rules for connections are the same for all listeners.
  const isOutside = listenerName === undefined && reason === "Authorization";
  const [listener] = isOutside ? listeners : named;
  return found[0] ?? (listener && { listener, route: undefined });
}

/** Lists the policies that apply to a request, in order. */
export function policiesOf({ listener, route }: ReachedNode): readonly PolicyUse[] {
  return policiesMet(listener, route ?? { policies: [], backends: [] });
}

/** An MCP item as rules see it: `{methodName: "tools/call", tool: {name: "x", target: "y"}}`. */
export type ItemData = Readonly<Record<string, unknown>>;

/** Returns the item of a request, with the arguments that the server gets; `undefined` if it has no item. */
export function itemOf(
  { fields }: TrialOutcome,
  { route }: ReachedNode,
  { tool, view, arguments: given = {} }: Pick<GatewayTest, "tool" | "view" | "arguments">,
): ItemData | undefined {
  const methodName = fields["mcp.method.name"];
  const target = fields["mcp.target"];
  const found = ITEM_FIELDS.find(([field]) => fields[field] !== undefined);
  if (methodName === undefined || target === undefined || found === undefined) return undefined;
  const [field, kind] = found;
  const sets = route?.backends.flatMap(toolSets).filter((each) => each.view === view) ?? [];
  const shown = sets.flatMap(({ tools }) => tools).find(({ name }) => name === tool);
  const args = kind === "tool" ? { arguments: { ...given, ...shown?.set } } : {};
  return { methodName, [kind]: { name: fields[field], target, ...args } };
}

/** Access log fields that name an item. */
const ITEM_FIELDS = [
  ["gen_ai.tool.name", "tool"],
  ["gen_ai.prompt.name", "prompt"],
  ["mcp.resource.uri", "resource"],
] as const;

/** Data that a test does not contain; the body of its request and the arguments of its call are known. */
const UNKNOWN = ALWAYS_OPEN.filter(
  (path) => !["request.body", "mcp.tool.arguments"].includes(path.join(".")),
);

/** Returns the verdict of each policy, in order, as `gwc can` does. */
export function verdictsOf(
  { as = {}, from = "127.0.0.1" }: GatewayTest,
  { request, claims }: TrialOutcome,
  reached: ReachedNode,
  item: ItemData | undefined,
): readonly PolicyVerdict[] {
  const given: RequestData = {
    ...(claims && { jwt: claims }),
    ...(as.apiKey && { apiKey: as.apiKey }),
    ...(as.basicAuth !== undefined && { basicAuth: { username: as.basicAuth } }),
  };
  const data = { request, source: { address: from }, ...(item && { mcp: item }) };
  const known = { data, open: UNKNOWN, present: [] };
  return chainVerdicts(policiesOf(reached), known, { given, isAnyone: false });
}

/** Returns the deciding rule: the one that refuses, else the last that allows; `undefined` if no rule decided. */
export function decidingRule(verdicts: readonly PolicyVerdict[]): Rule | undefined {
  const refusing = verdicts.find(({ verdict }) => verdict === "refuses");
  return refusing === undefined
    ? verdicts.findLast(({ rule }) => rule !== undefined)?.rule
    : refusing.rule;
}

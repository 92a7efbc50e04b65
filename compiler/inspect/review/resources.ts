import { backendOf } from "../../backends/index.ts";
import { servedTargets } from "../../ir/backend-text.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode, RouteNode } from "../../ir/program.ts";
import { matchText, type RouteMatch } from "../../model/matches.ts";
import type { Rule } from "../../model/rules.ts";
import { routeEntry } from "../access/item-access.ts";
import { type AccessChain, rulesOfChain } from "../diff/chain.ts";
import { canonicalRead, type DataPath } from "../effect/data/data-path.ts";
import type { RequestData } from "../effect/data/request-data.ts";
import { RuleModel } from "../effect/model/rule-model.ts";
import { type Work, withinSteps } from "../effect/work/work.ts";

/** A tool, path or model that callers may be allowed to use. */
export interface ReviewedResource {
  readonly kind: "tool" | "prompt" | "resource" | "path" | "model" | "connection";
  /** Name for readers: `search`, `any other tool`, `/api/*`. */
  readonly name: string;
  /** The MCP server; absent for others. */
  readonly target?: string;
  /** Whether a lock lists it, so that it exists; others are named by rules or stand for all others. */
  readonly isLocked: boolean;
  readonly data: RequestData;
  /** Parts of the request that are open, besides those that are always. */
  readonly open: readonly DataPath[];
  /** Alternative further policies, one of which must allow a caller; empty if there are none. */
  readonly anyOf: readonly PolicyUse[];
}

/** Returns what a route offers, of which rules may allow a part. */
export function resourcesOf(
  route: RouteNode,
  listener: ListenerNode,
  chainFor: (target: string | undefined) => AccessChain,
  work: Work,
): readonly ReviewedResource[] {
  const targets = [...new Set(route.backends.flatMap(servedTargets))];
  if (targets.length > 0) {
    const base = requestTo(route, listener);
    return targets.flatMap((target) => itemsOf(route, target, base, chainFor(target), work));
  }
  const models = route.backends.flatMap((node) => modelsOf(node, requestTo(route, listener)));
  return models.length > 0 ? models : pathsOf(route, listener, chainFor(undefined), work);
}

/** The request that all resources of a route have in common. */
type BaseRequest = Pick<ReviewedResource, "open"> & { readonly data: { readonly request: object } };

function requestTo(route: RouteNode, listener: ListenerNode): BaseRequest {
  const entry = routeEntry(route, listener);
  return requestFor(entry?.match, entry?.shared ?? "*", "POST");
}

function requestFor(match: RouteMatch | undefined, host: string, method: string): BaseRequest {
  const path = match?.path;
  const isKnown = path?.kind === "exact";
  return {
    data: {
      request: {
        method: match?.method ?? method,
        host: host.replace("*", "any"),
        path: path === undefined || path.kind === "regex" ? "/" : path.value,
      },
    },
    open: [
      ...(host.includes("*") ? [["request", "host"]] : []),
      ...(isKnown ? [] : [["request", "path"]]),
    ],
  };
}

const METHODS = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const;
const ITEM_LISTS = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  resourceTemplates: "resource",
} as const;

/** Returns the items of a server: those of its lock, or those that rules name and one for all others. */
function itemsOf(
  route: RouteNode,
  target: string,
  base: BaseRequest,
  chain: AccessChain,
  work: Work,
): readonly ReviewedResource[] {
  const item = (kind: keyof typeof METHODS, name: string, isLocked: boolean, label = name) => ({
    kind,
    name: label,
    target,
    isLocked,
    data: { ...base.data, mcp: { methodName: METHODS[kind], [kind]: { name, target } } },
    open: base.open,
    anyOf: [],
  });
  const owner = route.backends.find((node) => servedTargets(node).includes(target));
  const lock = owner && lockOf(owner);
  const locked = lock?.targets.find(({ name }) => name === target);
  if (lock !== undefined)
    return (locked?.items ?? []).map(({ list, name }) => item(ITEM_LISTS[list], name, true));
  return (["tool", "prompt", "resource"] as const).flatMap((kind) => {
    const names = constantsOf(chain, ["mcp", kind, "name"], work);
    const label = names.length === 0 ? `any ${kind}` : `any other ${kind}`;
    return [
      ...names.filter((name) => name !== OTHER).map((name) => item(kind, name, false)),
      item(kind, OTHER, false, label),
    ];
  });
}

/** A name that no rule has. */
const OTHER = "other";

function lockOf<Kind extends BackendKind>(node: BackendNode<Kind>) {
  return backendOf(node.kind).toolLock?.of(node);
}

function modelsOf<Kind extends BackendKind>(
  node: BackendNode<Kind>,
  base: BaseRequest,
): readonly ReviewedResource[] {
  const models = backendOf(node.kind).ruledModels?.(node) ?? [];
  return models.map(({ name, anyOf }) => ({
    kind: "model",
    name,
    isLocked: true,
    ...base,
    anyOf: anyOf.map(({ rules, origin }) => ({
      kind: "authorization",
      settings: { rules },
      origin,
    })),
  }));
}

/** Returns the matches of a route, and the paths below them that rules distinguish. */
function pathsOf(
  route: RouteNode,
  { table }: ListenerNode,
  chain: AccessChain,
  work: Work,
): readonly ReviewedResource[] {
  const examples = constantsOf(chain, ["request", "path"], work);
  const entries = table.flatMap(({ shared, entries: all }) =>
    all
      .filter((each) => each.route === route.id && !each.match.isDerived)
      .map((each) => ({ ...each, shared })),
  );
  return entries.flatMap(({ match, shared }) => {
    const base = requestFor(match, shared, "GET");
    const host = shared === "*" ? "" : `${shared}, `;
    const whole: ReviewedResource = {
      kind: "path",
      name: `${host}${matchText(match)}`,
      isLocked: true,
      ...base,
      open: [...base.open, ...(match.method === undefined ? [["request", "method"]] : [])],
      anyOf: [],
    };
    const { kind, value } = match.path;
    const below = kind === "prefix" ? examples.filter((each) => isBelow(each, value)) : [];
    return [
      whole,
      ...below.map((each) => ({
        ...whole,
        name: `${host}${each}`,
        data: { request: { ...base.data.request, path: each } },
        open: whole.open.filter(([, field]) => field !== "path"),
      })),
    ];
  });
}

function isBelow(path: string, prefix: string): boolean {
  return path !== prefix && path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}

/**
 * Returns the constants that rules compare a string with, and an example of each other class that they distinguish;
 * empty if they do not read it.
 */
function constantsOf(chain: AccessChain, path: DataPath, work: Work): readonly string[] {
  const key = path.join(".");
  const reading = rulesOfChain(chain).filter((rule) => reads(rule, path));
  if (reading.length === 0) return [];
  const phase = chain.stages.some((stage) => stage.phase === "mcp") ? "mcp" : "request";
  const model = withinSteps(() => new RuleModel(phase, reading, [], [], work.question()));
  const isIt = (each: { readonly path: DataPath }) => each.path.join(".") === key;
  const found = model?.variables.find((each) => each.kind === "value" && isIt(each));
  if (model === undefined || found?.kind !== "value") return [];
  // Rules that treat two constants alike have one class for both.
  const constants = model.leaves.flatMap((leaf) =>
    leaf.kind === "leaf" && leaf.form === "value" && isIt(leaf)
      ? [...leaf.features.strings.values()].filter(({ kind }) => kind === "equals")
      : [],
  );
  const examples = found.classes.flatMap(({ example }) =>
    typeof example === "string" ? example : [],
  );
  return [...new Set([...constants.map(({ text }) => text), ...examples])];
}

function reads({ expression }: Rule, path: DataPath): boolean {
  return expression.reads
    .map(canonicalRead)
    .some((each) => path.every((step, at) => each[at] === step));
}

import type { BackendKind, BackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import { imported } from "../code/names.ts";
import { ifStatement } from "../code/statements.ts";
import {
  type AtLeastOne,
  type BackendCode,
  type BackendScope,
  isOfKind,
  type ShareCode,
} from "./backend.ts";
import { backendTemplateOf } from "./index.ts";

const MODULE = "gwc/runtime/mcp/shares";

/** Writes the code of a route's backends: of one kind, or of several if one of them recognizes its clients. */
export function backendsCode(nodes: AtLeastOne<BackendNode>, scope: BackendScope): BackendCode {
  const [first] = nodes;
  if (!nodes.some(knowsClients)) return ofOneKind(first, nodes, scope);
  const [served, ...others] = nodes.filter((node) => weightOf(node) > 0);
  if (served === undefined) return refusing();
  const all: AtLeastOne<BackendNode> = [served, ...others];
  return others.length > 0 && all.some(knowsClients)
    ? ofShares(all, scope)
    : ofOneKind(served, all, scope);
}

/** Returns the backends that get requests, without those of weight 0. */
export function servedKinds(nodes: readonly BackendNode[]): readonly BackendKind[] {
  const served = nodes.filter((node) => weightOf(node) > 0);
  return [...new Set((served.length > 0 ? served : nodes).map(({ kind }) => kind))];
}

/** Writes the backends of one kind. */
function ofOneKind<Kind extends BackendKind>(
  first: BackendNode<Kind>,
  nodes: readonly BackendNode[],
  scope: BackendScope,
): BackendCode {
  const others = nodes.filter((node) => node !== first);
  const same = others.flatMap((node) => (isOfKind(node, first.kind) ? [node] : []));
  return backendTemplateOf<Kind>(first.kind).code([first, ...same], scope);
}

/** Refuses requests if no backend has a weight (Gateway API BackendRef). */
function refusing(): BackendCode {
  const refuse = imported("gwc/runtime/http/refuse", "noBackend");
  const step = [code`return ${refuse}(exchange);`];
  return { declarations: [], first: [], guard: [], step, isAsync: false };
}

/**
 * Writes backends that share a route: a session continues where it was opened, other requests are divided by weight.
 */
function ofShares(nodes: AtLeastOne<BackendNode>, scope: BackendScope): BackendCode {
  const knowing = nodes.filter(knowsClients);
  const shares = knowing.map((node, place) => ({
    weight: weightOf(node),
    made: shareCode(node, knowing.slice(0, place), scope),
  }));
  const [other, ...more] = nodes.filter((node) => !knowsClients(node));
  const rest = other === undefined ? undefined : ofOneKind(other, [other, ...more], scope);
  const others = [other, ...more].flatMap((node) => node ?? []);
  const settings = {
    mcp: shares.map(({ weight, made }) => ({ weight, backend: made.backend })),
    ...(rest && { others: others.reduce((total, node) => total + weightOf(node), 0) }),
  };
  const common = shares[0]?.made.shared;
  const ends = shares.map(({ made }, index) => {
    const serve = [...made.token, code`return ${made.call};`];
    if (rest === undefined && index === shares.length - 1) return serve;
    const isChosen = code`share === ${made.backend}`;
    if (made.token.length === 0) return serve.map((each) => ifStatement([isChosen], each));
    return [
      code`
        if (${isChosen}) {
          ${serve}
        }
      `,
    ];
  });
  return {
    declarations: [
      ...shares.flatMap(({ made }) => made.declarations),
      ...(common?.declarations ?? []),
      ...(rest?.declarations ?? []),
      code`const shares = ${imported(MODULE, "openShares")}(${literal(settings)});`,
    ],
    first: common?.first ?? [],
    guard: common?.guard ?? [],
    step: [
      code`const share = await ${imported(MODULE, "chooseShare")}(exchange, shares);`,
      code`if (share === undefined) return;`,
      ...ends.flat(),
      ...(rest?.step ?? []),
    ],
    isAsync: true,
  };
}

function shareCode<Kind extends BackendKind>(
  node: BackendNode<Kind>,
  before: readonly BackendNode[],
  scope: BackendScope,
): ShareCode {
  const { share } = backendTemplateOf<Kind>(node.kind);
  if (share === undefined) throw new Error(`${node.kind} has no share`);
  const same = before.flatMap((each) => (isOfKind(each, node.kind) ? [each] : []));
  return share(node, same, scope);
}

function knowsClients(node: BackendNode): boolean {
  return backendTemplateOf(node.kind).share !== undefined;
}

function weightOf(node: BackendNode): number {
  return "weight" in node ? node.weight : 1;
}

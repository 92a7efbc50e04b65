import type { BackendKind, BackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
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
import { refusedShare } from "./parts/refused-share.ts";

const MODULE = "gwc/runtime/mcp/shares";

/** Writes the code of a route's backends: of one kind, or of several if one of them recognizes its clients. */
export function backendsCode(nodes: AtLeastOne<BackendNode>, scope: BackendScope): BackendCode {
  if (!nodes.some(knowsClients)) return withoutClients(nodes, scope);
  const [served, ...others] = nodes.filter((node) => weightOf(node) > 0);
  if (served === undefined) return refusing();
  const all: AtLeastOne<BackendNode> = [served, ...others];
  return others.length > 0 && all.some(knowsClients)
    ? ofShares(all, scope)
    : withoutClients(all, scope);
}

/** Returns the kinds of backends that get requests, without those of weight 0 and the shares that are refused. */
export function servedKinds(nodes: readonly BackendNode[]): readonly BackendKind[] {
  const known = nodes.filter((node) => !isRefused(node));
  const served = known.filter((node) => weightOf(node) > 0);
  const some = [served, known, nodes].find((each) => each.length > 0) ?? [];
  return [...new Set(some.map(({ kind }) => kind))];
}

/** Writes backends of one kind, of which some may be missing: the share of those is refused (Gateway API HTTPRouteRule). */
function withoutClients(nodes: readonly BackendNode[], scope: BackendScope): BackendCode {
  const served = nodes.filter((node) => !isRefused(node));
  const [first] = served;
  if (first === undefined) return refusing();
  const made = ofOneKind(first, served, scope);
  return { ...made, step: [...refusalStep(nodes), ...made.step] };
}

function refusalStep(nodes: readonly BackendNode[]): readonly Code[] {
  const shares = nodes.map((node) => ({ weight: weightOf(node), isRefused: isRefused(node) }));
  const share = refusedShare(shares);
  if (share === undefined) return [];
  const refuse = imported("gwc/runtime/http/refuse", "noBackend");
  return [code`if (${share}) return ${refuse}(exchange);`];
}

function isRefused(node: BackendNode): boolean {
  return "isRefused" in node && node.isRefused === true;
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
  const rest = other === undefined ? undefined : withoutClients([other, ...more], scope);
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

import type { CalloutTarget } from "../../backends/parts/callout-target.ts";
import type { SettingsChange, SettingsComparison } from "../../model/access.ts";
import { shownText } from "../../model/texts.ts";
import type { CaseNode } from "./conditions.ts";

/** A policy case that calls a server. */
interface CalloutNode {
  readonly target: CalloutTarget;
}

interface Callouts<Node> {
  readonly cases: readonly CaseNode<Node>[];
}

/**
 * Returns the comparison of policies whose server may refuse requests: the server, the requests sent to it, and
 * the treatment of requests if it fails (`field` of the settings, as `passes` reads it).
 */
export function calloutComparison<Node extends CalloutNode>(
  field: keyof Node & string,
  passes: (node: Node) => boolean,
): SettingsComparison<Callouts<Node>> {
  return {
    changes: (before, after) => [
      ...conditionChanges(before, after),
      ...after.cases.flatMap(({ value }, at) => {
        const old = before.cases[at]?.value;
        return old === undefined ? [] : serverChanges(old, value, passes);
      }),
    ],
    rest: ({ cases }, others) =>
      cases.map(({ value }, at) => {
        const other = others.cases[at]?.value;
        const isSaid = other !== undefined && passes(value) !== passes(other);
        const { url: _, ...target } = value.target;
        return { ...value, target, ...(isSaid && { [field]: undefined }) };
      }),
  };
}

function serverChanges<Node extends CalloutNode>(
  before: Node,
  after: Node,
  passes: (node: Node) => boolean,
): readonly SettingsChange[] {
  const [from, to] = [shownText(before.target.url), shownText(after.target.url)];
  const changes: SettingsChange[] = [];
  if (from !== to) changes.push({ direction: "opens", text: `server ${to} instead of ${from}` });
  if (passes(before) !== passes(after)) {
    const text = `if ${to} fails, requests are`;
    changes.push(
      passes(after)
        ? { direction: "opens", text: `${text} allowed` }
        : { direction: "closes", text: `${text} refused` },
    );
  }
  return changes;
}

/** Compares the conditions: requests that meet none pass without a call to the server. */
function conditionChanges<Node>(
  before: Callouts<Node>,
  after: Callouts<Node>,
): readonly SettingsChange[] {
  const [old, now] = [askedAbout(before), askedAbout(after)];
  if (old === now) return [];
  const direction = now === EVERY ? "closes" : "opens";
  return [{ direction, text: `checks ${now} instead of ${old}` }];
}

const EVERY = "every request";

function askedAbout<Node>({ cases }: Callouts<Node>): string {
  const conditions = cases.flatMap(({ condition }) => condition?.source ?? []);
  if (conditions.length < cases.length) return EVERY;
  return conditions.map((source) => `requests with ${source}`).join(" or ");
}

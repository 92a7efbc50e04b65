import type { CalloutTarget } from "../../backends/parts/callout-target.ts";
import type { SettingsChange, SettingsComparison } from "../../model/access.ts";
import { shownText } from "../../model/texts.ts";
import type { CaseNode } from "./conditions.ts";

/** What asks a server of others about requests. */
interface CalloutNode {
  readonly target: CalloutTarget;
}

interface Callouts<Node> {
  readonly cases: readonly CaseNode<Node>[];
}

/**
 * How policies are compared whose server may refuse requests: which one it is, about which requests it is asked, and what
 * becomes of those about which it does not answer: `field` of its settings says it, and `passes` reads it.
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
  if (from !== to) changes.push({ direction: "opens", text: `${to} is asked, not ${from}` });
  if (passes(before) !== passes(after)) {
    const text = `requests about which ${to} does not answer are`;
    changes.push(
      passes(after)
        ? { direction: "opens", text: `${text} let through` }
        : { direction: "closes", text: `${text} refused` },
    );
  }
  return changes;
}

/** Requests that meet no condition are let through without being asked about. */
function conditionChanges<Node>(
  before: Callouts<Node>,
  after: Callouts<Node>,
): readonly SettingsChange[] {
  const [old, now] = [askedAbout(before), askedAbout(after)];
  if (old === now) return [];
  const direction = now === EVERY ? "closes" : "opens";
  return [{ direction, text: `asked about ${now}, not about ${old}` }];
}

const EVERY = "every request";

function askedAbout<Node>({ cases }: Callouts<Node>): string {
  const conditions = cases.flatMap(({ condition }) => condition?.source ?? []);
  if (conditions.length < cases.length) return EVERY;
  return conditions.map((source) => `requests with ${source}`).join(" or ");
}

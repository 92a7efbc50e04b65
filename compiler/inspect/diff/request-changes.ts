import { accessOf } from "../../ir/access.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import { policyOf } from "../../policies/index.ts";
import { changesRequest, reroutingPolicy } from "../routing/may-reroute.ts";
import type { ListenerPair } from "./listener-pairs.ts";

/** Lists changed policies that modify requests before later rules read them; their effect is not solved. */
export function changesBeforeRules(
  before: readonly PolicyUse[],
  after: readonly PolicyUse[],
): readonly string[] {
  const [old, now] = [readChanges(before), readChanges(after)];
  if (usesKey(old) === usesKey(now)) return [];
  // An additional policy that only refuses more cannot open access.
  const isMore = ({ kind }: PolicyUse) =>
    policyOf(kind).access?.direction === "closes" && !old.some((each) => each.kind === kind);
  if (usesKey(old) === usesKey(now.filter((use) => !isMore(use)))) return [];
  const kinds = [...new Set([...old, ...now].map(({ kind }) => kind))];
  return kinds.map((kind) => `changes that ${kind} makes to requests before rules`);
}

/** Lists changed policies of a listener that modify requests before routing, which may choose other routes. */
export function changesBeforeRouting({ before, after }: ListenerPair): readonly string[] {
  const changing = (listener: ListenerNode | undefined) =>
    listener !== undefined && reroutingPolicy(listener) !== undefined
      ? (listener.preRouting?.policies ?? []).filter((use) => changesRequest(use).length > 0)
      : [];
  const [old, now] = [changing(before), changing(after)];
  if (usesKey(old) === usesKey(now)) return [];
  const kinds = [...new Set([...old, ...now].map(({ kind }) => kind))];
  return kinds.map((kind) => `changes that ${kind} makes to requests before routing`);
}

function usesKey(uses: readonly PolicyUse[]): string {
  return settingsKey(uses.map(({ kind, settings }) => [kind, settings]));
}

/** Returns the policies that change parts which later rules read. */
function readChanges(policies: readonly PolicyUse[]): readonly PolicyUse[] {
  return policies.filter((use, at) => {
    const changes = changesRequest(use);
    if (changes.length === 0) return false;
    const reads = policies.slice(at + 1).flatMap(readsOf);
    return reads.some(
      ([root, field, name]) =>
        root === "request" &&
        (changes === "anything" ||
          (field === "headers"
            ? name === undefined || changes.includes(name)
            : changes.some((each) => each.startsWith(":")))),
    );
  });
}

/** Lists the paths that the rules of a policy read. */
function readsOf(use: PolicyUse): readonly (readonly string[])[] {
  return accessOf(use).flatMap((check) =>
    check.kind === "rules" ? check.rules.flatMap(({ expression }) => expression.reads) : [],
  );
}

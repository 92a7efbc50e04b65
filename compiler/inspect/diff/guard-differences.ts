import { guardChanges, guardRest, namesOf } from "../../backends/ai/guard-changes.ts";
import type { GuardNode, PromptGuardNode } from "../../backends/ai/guards.ts";
import { guardedServers } from "../../backends/index.ts";
import type { BackendNode } from "../../ir/backends.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import type { SettingsChange } from "../../model/access.ts";
import { changedSettings } from "./changed-settings.ts";
import { type Difference, plainDifference } from "./difference.ts";

/** Compares the prompt guards of a backend: patterns and external guards, per server, for requests and responses. */
export function guardDifferences(
  subject: string,
  old: BackendNode,
  node: BackendNode,
): readonly Difference[] {
  const [servers, serversNow] = [guardedServers(old), guardedServers(node)];
  const changed = serversNow.map(({ name, guard }, at) => {
    // A new server is compared with one that existed before.
    const found = servers.find((each) => each.name === name) ?? servers[at] ?? servers[0];
    const changes = found === undefined ? [] : changesOf(found.guard, guard);
    return { name, changes, found: found?.guard, guard };
  });
  const isSame = new Set(changed.map(({ changes }) => settingsKey(changes))).size === 1;
  const shown = isSame ? changed.slice(0, 1) : changed;
  return shown.flatMap(({ name, changes, found, guard }) => {
    const shownGuard = guard ?? found;
    const by = shownGuard && {
      side: guard === undefined ? ("before" as const) : ("after" as const),
      origin: shownGuard.origin,
      text: "promptGuard",
    };
    return changes.map(({ direction, text }) =>
      plainDifference(direction, subject, isSame ? text : `${name}: ${text}`, by),
    );
  });
}

function changesOf(
  before: PromptGuardNode | undefined,
  after: PromptGuardNode | undefined,
): readonly SettingsChange[] {
  const [old, now] = [before ?? NO_GUARD, after ?? NO_GUARD];
  const areBoth = before !== undefined && after !== undefined;
  return [
    ...phaseChanges("requests", old.request, now.request),
    ...phaseChanges("responses", old.response, now.response),
    ...(areBoth && old.guardsStreams !== now.guardsStreams
      ? [streamsChange(now.guardsStreams)]
      : []),
  ];
}

const NO_GUARD = { request: [], response: [], guardsStreams: true };

function streamsChange(areGuarded: boolean): SettingsChange {
  return areGuarded
    ? { direction: "closes", text: "responses: streams are guarded" }
    : { direction: "opens", text: "responses: streams are no longer guarded" };
}

function phaseChanges(
  phase: string,
  before: readonly GuardNode[],
  after: readonly GuardNode[],
): readonly SettingsChange[] {
  return [...guardChanges(phase, before, after), ...settingsChanges(phase, before, after)];
}

/** Compares other settings of guards that both sides have: rejections, connections. */
function settingsChanges(
  phase: string,
  before: readonly GuardNode[],
  after: readonly GuardNode[],
): readonly SettingsChange[] {
  const left = [...before];
  return after.flatMap((guard) => {
    const at = left.findIndex((each) => isSameGuard(each, guard));
    const [old] = at < 0 ? [] : left.splice(at, 1);
    if (old === undefined) return [];
    const areBoth = old.rejection !== undefined && guard.rejection !== undefined;
    return changedSettings(guardRest(old, areBoth), guardRest(guard, areBoth)).map(
      ({ direction, text }) => ({
        direction,
        text: `${phase}: ${guard.kind}: ${text}`,
      }),
    );
  });
}

function isSameGuard(a: GuardNode, b: GuardNode): boolean {
  const names = new Set(namesOf(a));
  return a.kind === b.kind && namesOf(b).some((name) => names.has(name));
}

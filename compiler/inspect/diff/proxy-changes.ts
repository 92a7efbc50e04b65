import type { BindNode } from "../../ir/program.ts";
import { listChanges, type SettingsChange } from "../../model/access.ts";
import { changedSettings } from "./changed-settings.ts";

type ProxyProtocol = BindNode["proxyProtocol"];

/** Whose word for a client's address a port takes, by which rules about addresses and limits go. */
export function proxyChanges(
  before: ProxyProtocol,
  after: ProxyProtocol,
): readonly SettingsChange[] {
  const believed = listChanges(
    "clients' addresses as proxies say them, from",
    sourcesOf(before),
    sourcesOf(after),
    "opens",
    (wide, narrow) => wide === narrow || wide === EVERYBODY,
  );
  if (before === undefined || after === undefined) return believed;
  const { isOptional: wasOptional, trustedSources: _, ...old } = before;
  const { isOptional, trustedSources: __, ...now } = after;
  const unspoken: readonly SettingsChange[] =
    wasOptional === isOptional
      ? []
      : isOptional === true
        ? [{ direction: "opens", text: `${UNSPOKEN} are taken` }]
        : [{ direction: "closes", text: `${UNSPOKEN} are closed` }];
  return [...believed, ...unspoken, ...changedSettings({ proxies: old }, { proxies: now })];
}

const UNSPOKEN = "connections that no proxy speaks for";
const EVERYBODY = "every address";

function sourcesOf(settings: ProxyProtocol): readonly string[] {
  return settings === undefined ? [] : (settings.trustedSources ?? [EVERYBODY]);
}

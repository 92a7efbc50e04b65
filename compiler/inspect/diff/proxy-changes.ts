import type { BindNode } from "../../ir/program.ts";
import { listChanges, type SettingsChange } from "../../model/access.ts";
import { changedSettings } from "./changed-settings.ts";

type ProxyProtocol = BindNode["proxyProtocol"];

/** Compares which proxies may set the client address, on which rules and limits depend. */
export function proxyChanges(
  before: ProxyProtocol,
  after: ProxyProtocol,
): readonly SettingsChange[] {
  const believed = listChanges(
    "trusted PROXY protocol source",
    sourcesOf(before),
    sourcesOf(after),
    "opens",
    (wide, narrow) => wide === narrow || wide === EVERYBODY,
  );
  if (before === undefined || after === undefined) return believed;
  const { isOptional: wasOptional, trustedSources: _, ...old } = before;
  const { isOptional, trustedSources: __, ...now } = after;
  const optional: readonly SettingsChange[] =
    wasOptional === isOptional
      ? []
      : isOptional === true
        ? [{ direction: "opens", text: `${WITHOUT_HEADER} are accepted` }]
        : [{ direction: "closes", text: `${WITHOUT_HEADER} are closed` }];
  return [...believed, ...optional, ...changedSettings({ proxies: old }, { proxies: now })];
}

const WITHOUT_HEADER = "connections without a PROXY header";
const EVERYBODY = "every address";

function sourcesOf(settings: ProxyProtocol): readonly string[] {
  return settings === undefined ? [] : (settings.trustedSources ?? [EVERYBODY]);
}

import { type BackendConfig, type BackendKind, backendOf } from "../../backends/index.ts";
import type { ListenerResource, RouteResource } from "../../config/resources.ts";
import type { SectionUse } from "../../config/sections.ts";
import type { Section, Traffic } from "../../model/traffic.ts";
import { limitsTokens } from "../../policies/index.ts";

/** What the servers of a route say of its requests meets what limits there are on those. `listeners`: by their keys. */
export function meetServerSections(
  { backends, listeners: served, policies, isPartial }: RouteResource,
  listeners: ReadonlyMap<string, ListenerResource>,
  sections: SectionUse,
): void {
  const own = served.flatMap(({ listener }) => listeners.get(listener) ?? []);
  const isLimited = [policies, ...own.map((each) => each.policies)].flat().some(limitsTokens);
  const limits: readonly Traffic[] = isLimited ? ["tokenLimits"] : [];
  // What was left out may have been the limit.
  const isKnown = [isPartial, ...own.map((each) => each.isPartial)].every((each) => each !== true);
  for (const section of backends.flatMap((backend) => sectionsOf(backend))) {
    sections.meet(section, isKnown ? limits : undefined);
  }
}

function sectionsOf<Kind extends BackendKind>(backend: BackendConfig<Kind>): readonly Section[] {
  const servers = backendOf<Kind>(backend.kind).carries(backend);
  return servers.flatMap(({ sections = [] }) => sections);
}

import { actsOnOfConnection } from "../../../backends/parts/connection-sections.ts";
import { acts, routeTraffic, type SectionUse, streamTraffic } from "../../../config/sections.ts";
import { foundText, type Section, type Traffic, trafficText } from "../../../model/traffic.ts";
import { policies } from "../../../policies/index.ts";
import type { KubernetesBackend } from "../backends/backends.ts";
import { isStream } from "../routes/attach.ts";
import type { RulePath } from "./effective.ts";
import { fieldName, PRE_ROUTING } from "./fields.ts";
import type { EffectiveField, FieldValue } from "./merge.ts";

/** Returns the traffic behind a rule with its backend; `undefined` if the backend has mistakes (reported). */
export function carriedBy({ listener, route, backend }: RulePath): readonly Traffic[] | undefined {
  if (backend !== undefined && !isKnown(backend)) return undefined;
  const backends = backend === undefined ? [] : [backend.config];
  if (!isStream(route)) return routeTraffic(backends);
  return streamTraffic(backends, listener.spec.tls?.mode === "Passthrough");
}

/** Whether a backend was found, without mistakes. */
function isKnown({ manifest }: KubernetesBackend): boolean {
  return manifest?.spec !== undefined;
}

/** Whether an effective field acts on the traffic. */
export function actsThere(
  { field }: Pick<EffectiveField, "field">,
  carried: readonly Traffic[] | undefined,
): boolean {
  const actsOn = actsOnOf(field);
  return carried === undefined || actsOn === undefined || acts(actsOn, carried);
}

/** Returns why an effective field has no effect: it acts on other traffic. */
export function whyIdle(
  { field }: EffectiveField,
  carried: readonly Traffic[] | undefined,
): string | undefined {
  const actsOn = actsOnOf(field);
  if (carried === undefined || actsOn === undefined || acts(actsOn, carried)) return undefined;
  const found = foundText(actsOn, carried);
  return `it acts on ${trafficText(actsOn)}, and here are ${found === undefined ? "none" : `only ${found}`}`;
}

/** Records the traffic for each value of a field; overridden values have been reported. */
export function meetField(
  { values, conflicts }: Pick<EffectiveField, "values" | "conflicts">,
  carried: readonly Traffic[] | undefined,
  sections: SectionUse,
): void {
  const lost = conflicts.map((each) => each.lost);
  for (const value of values) sections.meet(sectionOf(value), carriedFor(value, carried));
  for (const value of lost) sections.meet(sectionOf(value), undefined);
}

/** Returns a value as a section of its policy. */
export function sectionOf({ field, origin }: FieldValue): Section {
  return { name: fieldName(origin), actsOn: actsOnOf(field) ?? [], origin };
}

/** Returns the traffic for a field; `undefined` if the field is not supported (reported). */
function carriedFor(
  { field }: FieldValue,
  carried: readonly Traffic[] | undefined,
): readonly Traffic[] | undefined {
  return actsOnOf(field) === undefined ? undefined : carried;
}

/** Returns the traffic that a field acts on, in any phase; `undefined` if nothing reads the field. */
function actsOnOf(field: string): readonly Traffic[] | undefined {
  const [section, name = ""] = field.split(".");
  if (section === "backend") {
    const ofConnection = actsOnOfConnection(name);
    if (ofConnection.length > 0) return ofConnection;
  }
  return ACTS_ON.get(field.replace(PRE_ROUTING, "traffic."));
}

const ACTS_ON: ReadonlyMap<string, readonly Traffic[]> = new Map(
  policies.flatMap(({ kubernetes, traits, onBackend }) => [
    ...(kubernetes === undefined ? [] : [[kubernetes.field, traits.actsOn] as const]),
    ...(onBackend === undefined ? [] : [[`backend.${onBackend.field}`, onBackend.actsOn] as const]),
  ]),
);

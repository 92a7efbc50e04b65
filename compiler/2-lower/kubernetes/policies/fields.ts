import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { PolicyFields } from "../../../manifests/policy.ts";
import { policies } from "../../../policies/index.ts";
import type { FieldValue } from "./merge.ts";

/** The sections of a GatewayPolicy. */
export type PolicySection = "frontend" | "traffic" | "backend";

/**
 * Fields of the backend section whose parts are overridden separately; all other fields, of every section, are
 * overridden as a whole. TLS and authentication are overridden as a whole because their parts depend on each
 * other.
 */
const DIVIDED: ReadonlySet<string> = new Set(["tcp", "http", "mcp", "ai"]);

/** Returns a field's name in messages, with its owner if the owner's parts are overridden separately. */
export function fieldName({ path }: Origin): string {
  const [owner, name] = path.slice(-2);
  return DIVIDED.has(String(owner)) ? `${owner}.${name}` : String(name);
}

/** Returns the values of a section by field, for the merge. */
export function fieldValues(
  section: PolicySection,
  fields: PolicyFields | undefined,
  at: Pick<FieldValue, "level" | "source" | "origin" | "isFinal">,
): readonly FieldValue[] {
  const { level, source, origin } = at;
  const own = at.isFinal === true ? { isFinal: at.isFinal } : {};
  return Object.entries(fields ?? {}).flatMap(([name, value]): readonly FieldValue[] => {
    if (section === "traffic" && name === "phase") return [];
    const field = `${section}.${phaseOf(section, fields)}${name}`;
    const place = childOf(origin, name);
    if (section !== "backend" || !DIVIDED.has(name))
      return [{ field, value, level, source, origin: place, ...own }];
    return Object.entries(value ?? {}).map(([part, each]) => ({
      field: `${field}.${part}`,
      value: each,
      level,
      source,
      origin: childOf(place, part),
    }));
  });
}

/** Prefix of the fields of policies that run before routing. */
export const PRE_ROUTING = "traffic.PreRouting.";

/** Whether a field is a connection policy of a backend, for any protocol. */
export function isConnection(field: string): boolean {
  return /^backend\.(tcp|tls|http|auth|tunnel|health|ai)(\.|$)/.test(field) || isOfBackend(field);
}

/** Whether a field is a policy on the requests and responses of a single backend. */
function isOfBackend(field: string): boolean {
  return policies.some(({ onBackend }) => field === `backend.${onBackend?.field}`);
}

/** Whether the values of a field are joined instead of overridden, as its policy determines. */
export function isJoined(field: string): boolean {
  return JOINED.has(field.replace(PRE_ROUTING, "traffic."));
}

const JOINED: ReadonlySet<string> = new Set([
  "frontend.networkAuthorization",
  ...policies.flatMap(({ kubernetes, onBackend, lowering }) =>
    kubernetes !== undefined && lowering.merge === "join"
      ? [kubernetes.field, ...(onBackend === undefined ? [] : [`backend.${onBackend.field}`])]
      : [],
  ),
]);

/** Returns the prefix for the phase, because PreRouting and PostRouting fields are merged separately. */
function phaseOf(section: PolicySection, fields: PolicyFields | undefined): string {
  return section === "traffic" && fields?.phase === "PreRouting" ? "PreRouting." : "";
}

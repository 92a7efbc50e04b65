import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { PolicyFields } from "../../../manifests/policy.ts";
import { policies } from "../../../policies/index.ts";
import type { FieldValue, Level } from "./merge.ts";

/** The sections of a GatewayPolicy. */
export type PolicySection = "frontend" | "traffic" | "backend";

/**
 * Fields of the backend section whose parts are replaced one by one; every other field, of every section, is replaced
 * as a whole. TLS and authentication are wholes: parts of two of them would contradict each other.
 */
const DIVIDED: ReadonlySet<string> = new Set(["tcp", "http", "mcp", "ai"]);

/** What messages call a field: of one whose parts are replaced one by one the part, with its owner. */
export function fieldName({ path }: Origin): string {
  const [owner, name] = path.slice(-2);
  return DIVIDED.has(String(owner)) ? `${owner}.${name}` : String(name);
}

/** The values of a section, field by field, as the merge takes them. */
export function fieldValues(
  section: PolicySection,
  fields: PolicyFields | undefined,
  at: { readonly level: Level; readonly source: Manifest; readonly origin: Origin },
): readonly FieldValue[] {
  const { level, source, origin } = at;
  return Object.entries(fields ?? {}).flatMap(([name, value]): readonly FieldValue[] => {
    if (section === "traffic" && name === "phase") return [];
    const field = `${section}.${phaseOf(section, fields)}${name}`;
    const own = childOf(origin, name);
    if (section !== "backend" || !DIVIDED.has(name))
      return [{ field, value, level, source, origin: own }];
    return Object.entries(value ?? {}).map(([part, each]) => ({
      field: `${field}.${part}`,
      value: each,
      level,
      source,
      origin: childOf(own, part),
    }));
  });
}

/** What the fields of a policy that runs before routing begin with. */
export const PRE_ROUTING = "traffic.PreRouting.";

/** Whether a field says how a backend is reached, whatever is spoken to it. */
export function isConnection(field: string): boolean {
  return /^backend\.(tcp|tls|http|auth|tunnel|health|ai)(\.|$)/.test(field) || isOfBackend(field);
}

/** Whether a field is a policy about the requests and responses of one backend. */
function isOfBackend(field: string): boolean {
  return policies.some(({ onBackend }) => field === `backend.${onBackend?.field}`);
}

/** Whether the values of a field are joined rather than replaced: the policy that it belongs to says so. */
export function isJoined(field: string): boolean {
  return JOINED.has(field.replace(PRE_ROUTING, "traffic."));
}

const JOINED: ReadonlySet<string> = new Set([
  "frontend.networkAuthorization",
  ...policies.flatMap(({ kubernetes, onBackend, merge }) =>
    kubernetes !== undefined && merge === "join"
      ? [kubernetes.field, ...(onBackend === undefined ? [] : [`backend.${onBackend.field}`])]
      : [],
  ),
]);

/** PreRouting rules and PostRouting rules are merged apart. */
function phaseOf(section: PolicySection, fields: PolicyFields | undefined): string {
  return section === "traffic" && fields?.phase === "PreRouting" ? "PreRouting." : "";
}

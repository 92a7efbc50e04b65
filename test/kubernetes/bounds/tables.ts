import {
  aiBackendBounds,
  backendBounds,
  group,
  mcpBackendBounds,
  policiesBounds,
} from "./backend.ts";
import { frontendBounds, parametersBounds, policyBounds, target } from "./policy.ts";
import { trafficBounds, trafficRules } from "./traffic.ts";
import { type Bound, server } from "./words.ts";

/** The bounds of a kind, and the smallest document that they are said in. */
export interface BoundTable {
  readonly kind: string;
  readonly base: object;
  readonly bounds: readonly Bound[];
}

/** The bounds of every field of our kinds. */
export const boundTables: readonly BoundTable[] = [
  { kind: "GatewayBackend", base: { spec: { static: server } }, bounds: backendBounds },
  { kind: "GatewayBackend", base: { spec: { static: server } }, bounds: policiesBounds },
  {
    kind: "GatewayBackend",
    base: { spec: { mcp: { targets: [{ name: "t", static: server }] } } },
    bounds: mcpBackendBounds,
  },
  {
    kind: "GatewayBackend",
    base: { spec: { ai: { provider: { openai: {} } } } },
    bounds: aiBackendBounds.filter(([path]) => !path.startsWith("spec.ai.groups")),
  },
  {
    kind: "GatewayBackend",
    base: { spec: { ai: { groups: [group("a")] } } },
    bounds: aiBackendBounds.filter(([path]) => path.startsWith("spec.ai.groups")),
  },
  {
    kind: "GatewayPolicy",
    base: { spec: { targetRefs: [target] } },
    bounds: [...policyBounds, ...frontendBounds, ...trafficBounds, ...trafficRules],
  },
  { kind: "GatewayParameters", base: { spec: {} }, bounds: parametersBounds },
];

/** The document of a table's kind with a value at a path. */
export function boundDocument({ kind, base }: BoundTable, path: string, value: unknown): unknown {
  return withValue({ kind, metadata: { name: "a" }, ...base }, path.split("."), value);
}

/** A copy of a document with a value at a path; numbers are places in lists. */
function withValue(document: unknown, path: readonly string[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (/^\d+$/.test(step)) return [withValue(at(document, 0), rest, value)];
  const object = typeof document === "object" && document !== null ? document : {};
  return { ...object, [step]: withValue(at(document, step), rest, value) };
}

function at(value: unknown, step: string | number): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
}

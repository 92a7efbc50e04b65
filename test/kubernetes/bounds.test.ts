import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import {
  aiBackendBounds,
  backendBounds,
  group,
  mcpBackendBounds,
  policiesBounds,
} from "./bounds/backend.ts";
import { frontendBounds, parametersBounds, policyBounds, target } from "./bounds/policy.ts";
import { trafficBounds, trafficRules } from "./bounds/traffic.ts";
import { type Bound, server } from "./bounds/words.ts";
import { isGood } from "./shapes.ts";

const tables: readonly {
  readonly kind: string;
  readonly base: object;
  readonly bounds: readonly Bound[];
}[] = [
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

describe.each(tables)("$kind", ({ kind, base, bounds }) => {
  const spelled = bounds.map(([path, good, bad]) => ({ path, good, bad }));
  it.each(spelled)("$path takes the last good value and refuses the first bad one", (bound) => {
    const { path, good, bad } = bound;
    for (const [value, expected] of [
      [good, true],
      [bad, false],
    ] as const) {
      const document = withValue(
        { kind, metadata: { name: "a" }, ...base },
        path.split("."),
        value,
      );
      const { isGood: found, said } = isGood(kind, document);
      const shown = stringify(value).slice(0, 80);
      expect(found, `${path}: ${shown} ${said.join("; ")}`).toBe(expected);
    }
  });
});

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

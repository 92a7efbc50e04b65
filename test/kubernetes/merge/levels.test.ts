import { beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import {
  effectivePolicy,
  partPolicy,
} from "../../../compiler/2-lower/kubernetes/policies/effective.ts";
import type { EffectiveField } from "../../../compiler/2-lower/kubernetes/policies/merge.ts";
import { trafficOf } from "../../../compiler/2-lower/kubernetes/routes/traffic.ts";
import { checkManifests, world } from "../manifests.ts";
import { backendFields, type FieldCase, trafficFields } from "./fields.ts";

/** The place of a policy: the target of a GatewayPolicy, or the backend's own policies. */
interface LevelCase {
  readonly level: string;
  readonly target?: Readonly<Record<string, string>>;
}

const gatewayGroup = "gateway.networking.k8s.io";
const trafficLevels: readonly LevelCase[] = [
  { level: "Gateway", target: { group: gatewayGroup, kind: "Gateway", name: "gw" } },
  { level: "ListenerSet", target: { group: gatewayGroup, kind: "ListenerSet", name: "set" } },
  {
    level: "Listener",
    target: { group: gatewayGroup, kind: "ListenerSet", name: "set", sectionName: "added" },
  },
  { level: "Route", target: { group: gatewayGroup, kind: "HTTPRoute", name: "tools" } },
  {
    level: "Route rule",
    target: { group: gatewayGroup, kind: "HTTPRoute", name: "tools", sectionName: "all" },
  },
];
const backendLevels: readonly LevelCase[] = [
  ...trafficLevels,
  { level: "Backend", target: { group: "gwc.dev", kind: "GatewayBackend", name: "tools" } },
  { level: "GatewayBackend's own policies" },
];
/** Before routing there is no route to be more specific. */
const earlyLevels = trafficLevels.slice(0, 3);
/** The same fields before routing. */
const earlyFields = trafficFields.map((field) => ({
  ...field,
  path: field.path.replace("traffic.", "traffic.PreRouting."),
}));
/** For a target of the backend, a policy of the whole backend is less specific. */
const partLevels: readonly LevelCase[] = [
  backendLevels.at(-2) ?? { level: "" },
  {
    level: "sub-backend",
    target: { group: "gwc.dev", kind: "GatewayBackend", name: "tools", sectionName: "one" },
  },
  { level: "GatewayBackend's own policies" },
  { level: "target's own policies" },
];

/** A GatewayPolicy that says some fields. */
function policy(name: string, { target }: LevelCase, spec: object): string {
  return stringify({
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayPolicy",
    metadata: { name },
    spec: { targetRefs: [target], ...spec },
  });
}

/** The first, or the second, value of every field, as a policy says them. */
function valuesOf(fields: readonly FieldCase[], which: 0 | 1): Readonly<Record<string, object>> {
  const spec: Record<string, Record<string, unknown>> = {};
  for (const { path, values } of fields) {
    const isPreRouting = path.includes(".PreRouting.");
    const [section = "", name = "", part] = path.replace(".PreRouting.", ".").split(".");
    const own = spec[section] ?? {};
    spec[section] = own;
    if (isPreRouting) own.phase = "PreRouting";
    if (part === undefined) own[name] = values[which];
    else own[name] = { ...(own[name] as object | undefined), [part]: values[which] };
  }
  return spec;
}

/** The world with the fields said at two levels: the first values at the first one, the second at the second. */
function manifests(fields: readonly FieldCase[], levels: readonly [LevelCase, LevelCase]): string {
  const said = (level: string): Readonly<Record<string, object>> => {
    const index = levels.findIndex((each) => each.level === level);
    return index < 0 ? {} : valuesOf(fields, index === 0 ? 0 : 1);
  };
  const own = said("GatewayBackend's own policies").backend;
  const ofTarget = said("target's own policies").backend;
  const server = { host: "one.example.com", port: 3000 };
  const backend = stringify({
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayBackend",
    metadata: { name: "tools" },
    spec: {
      mcp: {
        targets: [{ name: "one", static: { ...server, ...(ofTarget && { policies: ofTarget }) } }],
      },
      ...(own && { policies: own }),
    },
  });
  const policies = levels.flatMap((level, index) =>
    level.target === undefined
      ? []
      : [policy(`policy-${index}`, level, valuesOf(fields, index === 0 ? 0 : 1))],
  );
  return [world, backend, ...policies].join("\n---\n");
}

/** Complaints that these configurations deserve: they say everything at once, and much of it to an MCP server. */
const EXPECTED = [
  "not-built-yet",
  "preflight-refuses-credential",
  "policy-without-effect",
  "misplaced-field",
  "two-token-checks",
  "missing-secret",
  "bad-format",
  "broken-rule",
  "literal-password-hash",
  "not-before-routing",
  "never-reached",
  "selector-without-match",
];

function effective(text: string, isPart: boolean): readonly EffectiveField[] {
  const { kubernetes, diagnostics } = checkManifests(text);
  expect(diagnostics.filter(({ code }) => !EXPECTED.includes(code))).toEqual([]);
  const route = kubernetes?.inventory.find("HTTPRoute", "default", "tools");
  if (kubernetes === undefined || route === undefined) throw new Error("no route");
  const [traffic] = trafficOf(kubernetes, route);
  if (traffic === undefined) throw new Error("the route is not attached");
  return isPart
    ? partPolicy(
        traffic,
        traffic.backend?.parts.get("one") ?? { name: "one" },
        kubernetes.context.policyIndex,
      )
    : effectivePolicy(traffic, kubernetes.context.policyIndex);
}

function neighbours(levels: readonly LevelCase[]): readonly (readonly [LevelCase, LevelCase])[] {
  return levels.slice(1).map((level, index) => [levels[index] ?? level, level]);
}

const cases: readonly {
  readonly section: string;
  readonly fields: readonly FieldCase[];
  readonly levels: readonly LevelCase[];
  readonly isPart: boolean;
}[] = [
  { section: "traffic", fields: trafficFields, levels: trafficLevels, isPart: false },
  { section: "traffic before routing", fields: earlyFields, levels: earlyLevels, isPart: false },
  { section: "backend", fields: backendFields, levels: backendLevels, isPart: false },
  {
    section: "backend of one target",
    fields: backendFields.filter(({ path }) => !path.startsWith("backend.ai")),
    levels: partLevels,
    isPart: true,
  },
];

describe.each(cases)("$section", ({ fields, levels, isPart }) => {
  describe.each(neighbours(levels))("$level, then more specific:", (low, high) => {
    let found: readonly EffectiveField[];
    beforeAll(() => {
      found = effective(manifests(fields, [low, high]), isPart);
    });

    it.each(fields)(`$path of the ${high.level} holds`, ({ path, values, isJoined = false }) => {
      const field = found.find((each) => each.field === path);
      const [held, lost] = [field?.values ?? [], field?.overridden ?? []];
      expect(held.map(({ value }) => value)).toEqual(isJoined ? values : [values[1]]);
      expect(lost.map(({ value }) => value)).toEqual(isJoined ? [] : [values[0]]);
      expect(field?.conflicts).toEqual([]);
    });
  });
});

const [gateway, , listener, route] = trafficLevels as [LevelCase, LevelCase, LevelCase, LevelCase];

it("a more specific policy leaves alone the fields that it does not name", () => {
  const [first, ...others] = trafficFields;
  if (first === undefined) throw new Error("no fields");
  const text = [
    manifests([], [gateway, route]),
    policy("all", gateway, valuesOf(trafficFields, 0)),
    policy("one", route, valuesOf([first], 1)),
  ].join("\n---\n");
  const found = effective(text, false);
  const held = (path: string): unknown =>
    found.find(({ field }) => field === path)?.values[0]?.value;
  expect(held(first.path)).toEqual(first.values[1]);
  for (const { path, values } of others) expect(held(path), path).toEqual(values[0]);
});

it("PreRouting and PostRouting policies are merged apart", () => {
  const cors = { allowOrigins: ["https://a.example.com"] };
  const text = [
    manifests([], [gateway, route]),
    policy("early", listener, { traffic: { phase: "PreRouting", cors } }),
    policy("late", gateway, { traffic: { cors: { allowOrigins: ["*"] } } }),
  ].join("\n---\n");
  expect(effective(text, false).map(({ field, overridden }) => [field, overridden.length])).toEqual(
    [
      ["traffic.PreRouting.cors", 0],
      ["traffic.cors", 0],
    ],
  );
});

import { expect, it } from "vitest";
import { send } from "../harness/send.ts";
import { AgentWorld } from "./agent-world.ts";
import type { TenantObject } from "./tenants.ts";

const group = "gateway.networking.k8s.io";

/** A route of 16 rules that answer themselves, and a policy that refuses so many long paths at each of them. */
function routeOf(namespace: string, name: string, refused: number): readonly TenantObject[] {
  const path = `/${"x".repeat(16_000)}`;
  const matchExpressions = Array.from(
    { length: refused },
    (_, index) => `request.path == "${path}${index}"`,
  );
  return [
    {
      ...{ apiVersion: `${group}/v1`, kind: "HTTPRoute", metadata: { name, namespace } },
      spec: {
        parentRefs: [{ name: "front", namespace: "default" }],
        rules: Array.from({ length: 16 }, (_, index) => ({
          matches: [{ path: { value: `/${name}/${index}` } }],
        })),
      },
    },
    {
      ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy", metadata: { name, namespace } },
      spec: {
        targetRefs: [{ group, kind: "HTTPRoute", name }],
        traffic: {
          authorization: { action: "Deny", policy: { matchExpressions } },
          directResponse: { status: 200 },
        },
      },
    },
  ];
}

it("the rules of a namespace beyond its share of a Gateway answer 500 (namespace-too-large), and those of others are served", async () => {
  const large = ["one", "two", "zero"].flatMap((name) => routeOf("x", name, 12));
  const world = await AgentWorld.start({
    routes: {},
    objects: [...large, ...routeOf("y", "y", 1)],
  });
  await world.startAgent(1);
  const status = async (path: string) =>
    (await send(`http://127.0.0.1:${world.port}${path}`, "GET")).status;
  expect(await status("/one/15")).toBe(200);
  expect(await status("/two/15")).toBe(200);
  expect(await status("/zero/15")).toBe(500);
  expect(await status("/y/15")).toBe(200);
});

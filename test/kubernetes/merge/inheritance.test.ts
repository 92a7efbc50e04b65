import { expect, it } from "vitest";
import { stringify } from "yaml";
import { bundle } from "../../harness/bundle.ts";
import { checkManifests, complaints } from "../manifests.ts";

const group = "gateway.networking.k8s.io";

const policy = (name: string, kind: string, spec: object) => ({
  apiVersion: "gwc.dev/v1alpha1",
  kind: "GatewayPolicy",
  metadata: { name },
  spec: { targetRefs: [{ group, kind, name: kind === "Gateway" ? "gw" : "r" }], ...spec },
});

/** A Gateway and its route, each with a policy; `strategy` is that of the Gateway's. */
function manifests(strategy: object | undefined, rest: object = {}): string {
  const rules = (path: string) => ({ policy: { matchExpressions: [`request.path == "${path}"`] } });
  const documents = [
    {
      apiVersion: `${group}/v1`,
      kind: "Gateway",
      metadata: { name: "gw" },
      spec: { gatewayClassName: "gwc", listeners: [{ name: "a", port: 8080, protocol: "HTTP" }] },
    },
    {
      apiVersion: `${group}/v1`,
      kind: "HTTPRoute",
      metadata: { name: "r" },
      spec: { parentRefs: [{ name: "gw" }], rules: [{ backendRefs: [{ name: "s", port: 80 }] }] },
    },
    { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } },
    policy("outer", "Gateway", {
      ...(strategy && { strategy }),
      traffic: { timeouts: { request: "3s" }, authorization: rules("/outer") },
      ...rest,
    }),
    policy("inner", "HTTPRoute", {
      traffic: { timeouts: { request: "7s" }, authorization: rules("/inner") },
    }),
  ];
  return documents.map((each) => stringify(each)).join("---\n");
}

async function generated(strategy: object | undefined): Promise<string> {
  const files = await bundle({ config: manifests(strategy) });
  return files
    .filter(({ path }) => path.startsWith("routes/"))
    .map(({ text }) => text)
    .join("");
}

it("a policy of a route overrides that of its Gateway, and adds its rules", async () => {
  for (const strategy of [undefined, { inheritance: "Default" }]) {
    const text = await generated(strategy);
    expect(text).toContain("timeout = 7 * SECOND");
    for (const path of ["/outer", "/inner"]) expect(text).toContain(`request.path == "${path}"`);
  }
});

it("with Override, it does not, and its rules are not added", async () => {
  const text = await generated({ inheritance: "Override" });
  expect(text).toContain("timeout = 3 * SECOND");
  expect(text).toContain('request.path == "/outer"');
  expect(text).not.toContain('request.path == "/inner"');
});

it("a policy without effect because of Override is reported", () => {
  const found = complaints(checkManifests(manifests({ inheritance: "Override" })));
  expect(found.join("\n")).toContain('"default/inner" has no effect');
});

it("strategy is for policies about traffic only", () => {
  const frontend = { tcp: { keepalive: { time: "10s" } } };
  const found = complaints(checkManifests(manifests({ inheritance: "Override" }, { frontend })));
  expect(found.join("\n")).toContain('"strategy" requires "traffic"');
});

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ValueResources } from "../../compiler/controller/delivery/value-resources.ts";
import { compileFiles } from "../../compiler/controller/model/compile-files.ts";
import { keptObject, manifestText } from "../../compiler/controller/model/watched-object.ts";
import { folderVersion } from "../../runtime/process/file-version.ts";
import { eventually } from "../harness/eventually.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { AgentWorld, manifestsOf, type WorldGeneration } from "./agent-world.ts";
import type { TenantObject } from "./tenants.ts";

const gatewayApi = "gateway.networking.k8s.io";

/** A route of a tenant at `/NAMESPACE`, and its policies. */
function tenantObjects(
  namespace: string,
  policies: Readonly<Record<string, object>>,
): readonly TenantObject[] {
  const metadata = { name: "r", namespace };
  const matches = [{ path: { value: `/${namespace}` } }];
  const targetRefs = [{ group: gatewayApi, kind: "HTTPRoute", name: "r" }];
  const route = {
    ...{ apiVersion: `${gatewayApi}/v1`, kind: "HTTPRoute", metadata },
    spec: { parentRefs: [{ name: "front", namespace: "default" }], rules: [{ matches }] },
  };
  const answer = { directResponse: { status: 200, body: namespace } };
  const all = Object.entries({ answer, ...policies }).map(([name, traffic]) => ({
    ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy", metadata: { name, namespace } },
    spec: { targetRefs, traffic },
  }));
  return [route, ...all];
}

const selected = { apiKeyAuthentication: { secretSelector: { matchLabels: { of: "x" } } } };
const denied = (name: string) => ({
  deny: {
    authorization: {
      action: "Deny",
      policy: { matchExpressions: [`request.path == "/a/${name}"`] },
    },
  },
});

/** Secrets of tenant X with so many API keys each. */
function keySecrets(secrets: number, keys: number): Record<string, Record<string, string>> {
  const entries = (secret: number) =>
    Array.from({ length: keys }, (_, key) => [`client-${key}`, keyOf(secret, key)] as const);
  return Object.fromEntries(
    Array.from({ length: secrets }, (_, secret) => [
      `keys-${secret}@x`,
      Object.fromEntries(entries(secret)),
    ]),
  );
}

const keyOf = (secret: number, key: number) => `key-${secret}-${key}`;

const compiled = (generation: Omit<WorldGeneration, "routes">) =>
  compileFiles(manifestsOf({ routes: {}, ...generation, ports: [8080, 9090, 9091] }), undefined);

function policyStatus(generation: Omit<WorldGeneration, "routes">, key: string): string {
  const { statuses } = compiled(generation);
  return JSON.stringify(
    statuses.find((each) => each.kind === "GatewayPolicy" && each.key === key)?.status,
  );
}

it("API keys in 12 Secrets of 9,000 entries hold up no deny rule of another tenant", async () => {
  const secrets = keySecrets(12, 9_000);
  const x = tenantObjects("x", { keys: selected });
  const world = await AgentWorld.start({
    ...{ routes: {}, secrets },
    objects: [...x, ...tenantObjects("a", denied("first"))],
  });
  await world.startAgent(1);
  const status = async (at: string, key?: string) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return (await send(`http://127.0.0.1:${world.port}${at}`, "GET", headers)).status;
  };
  expect([await status("/a/first"), await status("/a/second")]).toEqual([403, 200]);
  const objects = [...x, ...tenantObjects("a", denied("second"))];
  expect(await world.push({ routes: {}, secrets, objects })).toBe(undefined);
  expect([await status("/a/first"), await status("/a/second")]).toEqual([200, 403]);

  expect([await status("/x"), await status("/x", "other")]).toEqual([401, 401]);
  for (const secret of [0, 11]) expect(await status("/x", keyOf(secret, 8_999))).toBe(200);
  // A key is revoked without another generation.
  const { "client-8999": _, ...others } = secrets["keys-11@x"] ?? {};
  world.send({ routes: {}, secrets: { ...secrets, "keys-11@x": others }, objects });
  await eventually(
    async () => ((await status("/x", keyOf(11, 8_999))) === 401 ? true : null),
    "the revoked key",
  );
  expect(await status("/x", keyOf(11, 8_998))).toBe(200);
}, 120_000);

it("neither the code of a Gateway nor the declaration of a Secret grows with its entries", () => {
  const objects = tenantObjects("x", { keys: selected });
  const sizeOf = (keys: number) => {
    const { gateways } = compiled({ objects, secrets: keySecrets(2, keys) });
    const { modules = [], secrets = [] } = gateways.get("default/front") ?? {};
    expect(secrets).toEqual(["keys-0@x", "keys-1@x"]);
    return modules.reduce((sum, { text }) => sum + text.length, 0);
  };
  expect(sizeOf(5_000)).toBe(sizeOf(1));
  const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, each) => [`k${each}`, ""]));
  const metadata = { name: "s", namespace: "x" };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, data };
  // Each entry is unreadable, and three are named.
  expect(manifestText(keptObject(secret)).length).toBeLessThan(600);
});

it("an unchanged Secret is not written again", () => {
  let reads = 0;
  const data = Object.defineProperty({}, "key", {
    enumerable: true,
    get: () => {
      reads += 1;
      return "dmFsdWU=";
    },
  });
  const values = new ValueResources({ valuesOf: () => data });
  expect(values.of("Secret", "x/s")).toBe(values.of("Secret", "x/s"));
  expect(reads).toBe(1);
});

it.each([
  ["a Secret with more than 10,000 entries", 1, 10_001, "has more than 10,000 entries"],
  ["Secrets with more than 200,000 entries", 21, 10_000, "has more than 200,000 entries"],
  ["more than 1,000 Secrets", 1_001, 1, "has more than 1,000 Secrets"],
])(
  "%s with API keys close the policy that selects them (too-many-entries)",
  (_, secrets, keys, text) => {
    const objects = [...tenantObjects("x", { keys: selected }), ...tenantObjects("a", denied("b"))];
    const generation = { objects, secrets: keySecrets(secrets, keys) };
    expect(policyStatus(generation, "x/keys")).toMatch(
      new RegExp(`"Accepted","status":"False","reason":"Invalid"[^}]*${text}`),
    );
    expect(policyStatus(generation, "a/deny")).not.toContain('"False"');
    const { modules = [] } = compiled(generation).gateways.get("default/front") ?? {};
    const texts = modules.map(({ path: file, text: module }) => [file, module] as const);
    expect(JSON.stringify(texts)).not.toContain("keys-");
    expect(JSON.stringify(texts)).toContain("/a/b");
  },
);

it("a Secret with more than 10,000 entries is read for no other use either", () => {
  const entries = { ...keySecrets(1, 10_000)["keys-0@x"], ".htaccess": "u:{SHA}a" };
  const basic = { basicAuthentication: { secretRef: { name: "users" } } };
  const generation = {
    objects: tenantObjects("x", { basic }),
    secrets: { "users@x": entries },
  };
  expect(policyStatus(generation, "x/basic")).toContain("has more than 10,000 entries");
});

it("of many unreadable API keys the first are named, and the others counted (unusable-entries)", () => {
  const entries = Object.fromEntries(Array.from({ length: 10 }, (_, each) => [`k${each}`, "{"]));
  const generation = {
    objects: tenantObjects("x", { keys: selected }),
    secrets: { "keys@x": { ...entries, good: "key" } },
  };
  const status = policyStatus(generation, "x/keys");
  expect(status).toContain('"status":"True","reason":"PartiallyValid"');
  for (const key of ["k0", "k1", "k2"]) expect(status).toContain(`\\"${key}\\" of Secret`);
  expect(status).not.toContain('\\"k3\\"');
  expect(status).toContain('7 other entries of Secret \\"x/keys\\" are no API keys either');
});

it("a folder has another version when an entry changes, alone or with all others", () => {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, "a"), "1");
  const first = folderVersion(folder);
  writeFileSync(path.join(folder, "a"), "other");
  const second = folderVersion(folder);
  mkdirSync(path.join(folder, "..data"));
  const third = folderVersion(folder);
  expect(new Set([first, second, third]).size).toBe(3);
  expect(folderVersion(folder)).toBe(third);
});

import { beforeAll, describe, expect, it } from "vitest";
import { compileFiles } from "../../compiler/controller/model/compile-files.ts";
import type { GwcProcess } from "../harness/gwc.ts";
import { send } from "../harness/send.ts";
import { AgentWorld, manifestsOf, type WorldGeneration } from "./agent-world.ts";
import { checkManifests, complaints } from "./manifests.ts";

const module = (word: string) => `import { definePolicy } from "gwc/policy";
import { header } from "./names.ts";

/** Rejects requests without the key. */
export default definePolicy({
  options: {
    key: { type: "string", required: true, secret: true },
    status: { type: "integer", default: 401 },
  },
  async request(request, { key, status }) {
    const given: string | null = request.headers.get(header);
    if (given !== key) return request.refuse(status, "${word}");
  },
});
`;

const names = 'export const header = "x-key";\n';
const published = { "policies/keys.ts": module("no key"), "policies/names.ts": names };

function policy(custom: object, name = "keys"): NonNullable<WorldGeneration["objects"]>[number] {
  return {
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayPolicy",
    metadata: { name, namespace: "default" },
    spec: {
      targetRefs: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: "shop" }],
      traffic: { custom: [custom] },
    },
  };
}

const keys = { policy: "keys", with: { status: 403 }, secrets: { key: { name: "door" } } };
const routes = { shop: { text: "the shop" }, other: { text: "the other" } };
const secrets = { door: { value: "open sesame" } };

describe("a published policy", () => {
  let world: AgentWorld;
  let agent: GwcProcess;
  const generation = { routes, secrets: { door: { value: "sesame" } }, published };
  beforeAll(async () => {
    world = await AgentWorld.start({ ...generation, objects: [policy(keys)] });
    agent = await world.startAgent(1);
  });
  const shop = (key: string) =>
    send(`http://127.0.0.1:${world.port}/shop`, "GET", { "x-key": key });

  it("runs in data planes with the options and the Secret of its tenant", async () => {
    const [passed, refused] = await Promise.all([shop("sesame"), shop("other")]);
    expect([passed.body, refused.status, refused.body]).toEqual(["the shop", 403, "no key"]);
    await agent.seen(/custom\.policy=keys/);
  });

  it("changes in data planes when operators publish another version", async () => {
    const next = { ...published, "policies/keys.ts": module("still no key") };
    expect(
      await world.push({ ...generation, published: next, objects: [policy(keys)] }),
    ).toBeUndefined();
    await expect.poll(async () => (await shop("other")).body).toBe("still no key");
  });
});

/** Compiles a policy, and returns the reason of its status and what a request of its route would meet. */
function judged(custom: object, files: Readonly<Record<string, string>> = published) {
  const own = manifestsOf({
    routes,
    secrets,
    objects: [policy(custom)],
    ports: [8080, 9090, 9091],
  });
  const { statuses, gateways } = compileFiles({ ...own, ...files }, undefined);
  const status = JSON.stringify(
    statuses.find(({ kind, key }) => kind === "GatewayPolicy" && key === "default/keys")?.status,
  );
  const [gateway] = gateways.values();
  const modules = gateway?.modules ?? [];
  const shop = modules.find(({ path }) => path.includes("shop"))?.text ?? "";
  return { status, shop, paths: modules.map(({ path }) => path) };
}

describe("tenants", () => {
  it.each([
    ["that is not published", { policy: "other" }, 'no policy \\"other\\" is published'],
    ["outside the folder", { policy: "../keys" }, "policy"],
    ["with an option that it does not have", { ...keys, with: { admin: true } }, "admin"],
    ["with an option of another type", { ...keys, with: { status: "open" } }, "status"],
    ["without a required option", { policy: "keys" }, "key"],
    [
      "with a Secret for an option without a secret",
      { ...keys, secrets: { ...keys.secrets, status: { name: "door" } } },
      "declares as a secret",
    ],
    ["with a path of their own", { ...keys, use: "./policies/keys.ts" }, "use"],
    ["with more powers", { ...keys, allow: ["fs"] }, "allow"],
  ])("cannot use a policy %s: its route is closed", (_, custom, message) => {
    const { status, shop } = judged(custom);
    expect(status).toContain('"False"');
    expect(status).toContain(message);
    expect(shop).not.toContain("openCustomPolicy");
    expect(shop).not.toContain("the shop");
  });

  it("cannot read the environment of data planes by an option", () => {
    const { shop } = judged({ ...keys, secrets: undefined, with: { key: "${GWC_SIGNER}" } });
    expect(shop).not.toMatch(/env\("GWC_SIGNER"\)/);
  });

  it("cannot bring code in a ConfigMap of their own", () => {
    const data = { "evil.ts": module("x") };
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "policies", namespace: "default" },
      data,
    };
    const { status } = judged({ policy: "evil" }, { ...published, "/map": JSON.stringify(map) });
    expect(status).toContain("is published");
  });
});

describe("mistakes of operators", () => {
  it.each([
    ["a package", 'import x from "undici";\n', 'cannot import the package \\"undici\\"'],
    ["a change of the language", "Math.max = Math.min;\n", "belongs to all policies"],
    ["a module of Node.js", 'import fs from "node:fs";\n', "node:fs"],
    ["a use of the network", 'export const x = () => fetch("http://x");\n', "fetch"],
  ])("close the routes of tenants that name the policy, and no others: %s", (_, top, message) => {
    const files = { ...published, "policies/keys.ts": top + module("x") };
    const { status, paths } = judged(keys, files);
    expect(status).toContain(message);
    expect(status).toContain("policies/keys.ts");
    expect(paths).toContain("main.ts");
    expect(paths).not.toContain("policies/keys.ts");
  });
});

it("a package that operators bundle into a module and name is part of a published policy", async () => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: { contents: 'export { default } from "minisearch";', resolveDir: import.meta.dirname },
    ...{ bundle: true, format: "esm", write: false },
  });
  const code = `// @ts-nocheck\n${outputFiles[0]?.text ?? ""}`;
  const policy = `import { definePolicy } from "gwc/policy";
import MiniSearch from "./minisearch.ts";

const words = new MiniSearch({ fields: ["text"] });

export default definePolicy({
  request(request) {
    if (words.search(request.path).length > 0) return request.refuse(403, "found");
  },
});
`;
  const published = (module: string) =>
    judged({ policy: "keys" }, { "policies/keys.ts": policy, "policies/minisearch.ts": module });
  const { paths, shop } = published(`// @package minisearch@7.2.0 MIT\n${code}`);
  expect(paths).toContain("policies/minisearch.ts");
  expect(shop).toContain("openCustomPolicy");
  expect(published(code).status).toContain('code of the package \\"minisearch\\", but does not');
});

describe("operators", () => {
  const network = {
    ...published,
    "policies/keys.ts": `export const x = () => fetch("http://x");\n${module("x")}`,
  };

  it("allow a policy names, such as fetch, which tenants cannot", () => {
    const allowed = judged(keys, { ...network, "policies/allow.json": '{"keys":["fetch"]}' });
    expect(allowed.paths).toContain("policies/keys.ts");
    expect(allowed.shop).toContain("openCustomPolicy");
    const other = judged(keys, { ...network, "policies/allow.json": '{"other":["fetch"]}' });
    expect(other.status).toContain('add fetch to \\"allow\\"');
  });

  it.each(["{", "[]", '{"keys":"fetch"}', '{"keys":[1]}'])(
    "allow nothing with an invalid list: %s",
    (text) => {
      const { status, paths } = judged(keys, { ...published, "policies/allow.json": text });
      expect(status).toContain("allow.json: must be an object");
      expect(paths).not.toContain("policies/keys.ts");
    },
  );
});

it("`gwc check` reads policies next to the manifests", () => {
  const manifests = Object.values(
    manifestsOf({
      routes,
      secrets,
      objects: [policy({ policy: "absent" })],
      ports: [8080, 9090, 9091],
    }),
  ).join("\n---\n");
  expect(complaints(checkManifests(manifests)).join()).toContain("unpublished-policy");
});

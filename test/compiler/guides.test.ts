import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { auditMessages } from "../../compiler/diagnostics/messages/audit.ts";
import { painter } from "../../compiler/diagnostics/report/colors.ts";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { allFields, fieldsNamed } from "../../compiler/inspect/reference/field-index.ts";
import {
  DOCUMENTED_COMMANDS,
  guideNames,
  guidePage,
  writtenPage,
} from "../../compiler/inspect/reference/guides.ts";
import { terminalPage } from "../../compiler/inspect/reference/terminal.ts";
import { guidesFolder } from "../../compiler/installation.ts";
import { gwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";
import { Workspace } from "../harness/workspace.ts";

const guides = guideNames().map((name) => document(path.join(guidesFolder, `${name}.md`)));
const readme = document(path.join(root, "README.md"));

function document(file: string) {
  return { file, name: path.relative(root, file), text: readFileSync(file, "utf8") };
}

/** Files that the configurations of the guides name. */
const FILES = {
  "shop.openapi.yaml": stringify({
    openapi: "3.1.0",
    info: { title: "shop", version: "1" },
    paths: { "/orders": { get: { operationId: "listOrders", responses: {} } } },
  }),
  "policies/tenant.ts": policyWith("x-tenant-id"),
  "policies/token.ts": policyWith("x-tenant-id")
    .replace(/provides.*\n/, "")
    .replace(/return \{ tenant \};/, ""),
  "policies/quota.ts": policyWith("x-tenant-id")
    .replace(/provides.*\n/, "")
    .replace(/return \{ tenant \};/, ""),
  "policies/sign.ts": policyWith("HMAC-SHA256"),
  "policies/canary.ts": policyWith("x-canary"),
};

/** Returns the first policy that the guide shows with these words. */
function policyWith(words: string): string {
  const { text = "" } = guides.find(({ name }) => name.endsWith("/policies.md")) ?? {};
  const shown = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
  return shown.find((code) => code.includes(words)) ?? "";
}

/** Resources around manifests of guides: a Gateway with its parameters, and a team with a route. */
const MANIFESTS = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gateway}
spec:
  gatewayClassName: gwc
  infrastructure: {parametersRef: {group: gwc.dev, kind: GatewayParameters, name: own}}
  listeners: [{name: http, port: 3000, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: team-cart}
spec: {rules: [{matches: [{path: {value: /cart}}], backendRefs: [{name: cart, port: 80}]}]}
---
{apiVersion: v1, kind: Service, metadata: {name: cart, namespace: team-cart}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: clients}, data: {ca.crt: ""}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: partners}, data: {ca.crt: ""}}
---
{apiVersion: v1, kind: Secret, metadata: {name: signing-key}, data: {value: ""}}
---
{apiVersion: v1, kind: Secret, metadata: {name: site}, data: {tls.crt: "", tls.key: ""}}
---
{apiVersion: v1, kind: Secret, metadata: {name: own}, data: {tls.crt: "", tls.key: ""}}
`;

/** A manifest among those that it needs, or a whole file. */
function written(part: Readonly<Record<string, unknown>>, guide: string): string {
  if (!("kind" in part)) return stringify(whole(part, guide));
  const shown = [stringify(part)];
  if (part.kind !== "GatewayParameters") shown.push(PARAMETERS);
  if (part.kind !== "HTTPRoute") shown.push(ROUTE);
  return [...shown, MANIFESTS].join("\n---\n");
}

const PARAMETERS =
  "{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: own}, spec: {}}";
const ROUTE = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec:
  parentRefs: [{name: gateway}]
  rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart, namespace: team-cart}]}]
`;

/** The whole configuration of which a guide shows a part: sections of the file, parts of a route, or policies. */
function whole(part: Readonly<Record<string, unknown>>, guide: string): object {
  if (["gateways", "binds", "llm", "mcp"].some((section) => section in part)) return part;
  if ("frontendPolicies" in part || "config" in part) return { ...part, binds: bindsOf({}, guide) };
  return {
    binds: bindsOf("policies" in part || "backends" in part ? part : { policies: part }, guide),
  };
}

function bindsOf(route: object, guide: string): object {
  const backend = ["guards", "limits", "models"].includes(guide)
    ? { ai: { name: "it", provider: { openAI: { model: "gpt-5-mini" } } } }
    : { host: "127.0.0.1:9000" };
  return [{ port: 3000, listeners: [{ routes: [{ backends: [backend], ...route }] }] }];
}

/**
 * The examples of the guides, but for lists, which are alerting rules of Prometheus, and for files that start a bundle
 * (test/cli/deploy.test.ts).
 */
const configurations = guides.flatMap(({ name, text }) =>
  [...text.matchAll(/^```yaml\n(?!- |services:|apiVersion: apps)([\s\S]*?)^```$/gm)].map(
    ([, yaml = ""], index) => ({
      name: `${name} ${index + 1}`,
      // Several documents are manifests, which are complete.
      text: /^---$/m.test(yaml) ? yaml : written(parse(yaml), path.basename(name, ".md")),
    }),
  ),
);

it.each(configurations)("the configuration in $name is one that gwc check takes", ({ text }) => {
  const { findings } = checkInput(["a.yaml"], memoryHost({ ...FILES, "a.yaml": text }), false);
  expect(
    findings.filter(({ severity }) => severity === "error").map(({ message }) => message),
  ).toEqual([]);
});

/** Test files of guides, each with the configuration before it. */
const tested = guides.flatMap(({ name, text }) =>
  [
    ...text.matchAll(
      /^```yaml\n((?:(?!```)[^\n]*\n)*)```$(?:(?!^```yaml)[\s\S])*^```yaml test\n([\s\S]*?)^```$/gm,
    ),
  ].map(([, config = "", tests = ""]) => ({ name, config, tests })),
);

it.each(tested)(
  "the tests in $name pass without variables and servers",
  async ({ config, tests }) => {
    const workspace = new Workspace({ "gateway.yaml": config, "gateway.test.yaml": tests });
    const { code, stderr } = await gwc(["test"], { cwd: workspace.folder });
    expect([code, stderr]).toEqual([0, expect.stringContaining("passed")]);
  },
);

it.each([readme, ...guides])("what $name points to is there", ({ file, text }) => {
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) => link);
  const missing = links.filter((link) => !existsSync(path.resolve(path.dirname(file), link)));
  expect(missing).toEqual([]);
});

const fields = allFields();

it.each([readme, ...guides])("fields of the gateway that $name names exist", ({ text }) => {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
  const named = [...prose.matchAll(/`((?:config|frontendPolicies)(?:\.[a-z]\w*)+)`/g)];
  const unknown = named
    .map(([, name = ""]) => name)
    .filter((name) => !/\.(?:yaml|toml)$/.test(name) && fieldsNamed(name, fields).length === 0);
  expect(unknown).toEqual([]);
});

const pages = [
  ...guideNames().map((name) => [`guide ${name}`, guidePage(name)] as const),
  ...[...DOCUMENTED_COMMANDS, "eras"].map((name) => [name, writtenPage(name)] as const),
];

it.each(pages)("a terminal shows %s without Markdown syntax", (_, written) => {
  const page = written ?? { title: "", parts: [] };
  const shown = terminalPage(page, { width: 100, paint: painter(false) });
  expect(page.parts.length).toBeGreaterThan(2);
  expect(shown).toMatch(/^(?:[A-Z]|gwc ).*\n\n/);
  expect(shown).not.toMatch(/`|\]\(|^#|^\|/m);
});

it("gwc explain guide says which guides there are, and prints one", async () => {
  expect((await gwc(["explain", "guide"])).stdout).toContain("  mcp ");
  expect((await gwc(["explain", "guide", "mcp"])).stdout).toContain("    mcp:\n      policies:");
  const { code, stderr } = await gwc(["explain", "guide", "limts"]);
  expect(stderr).toContain('did you mean "limits"?');
  expect(code).toBe(2);
});

it("the page of gwc audit lists every code with its level", () => {
  const rows = writtenPage("audit")?.parts.flatMap((part) =>
    part.kind === "table" ? part.rows : [],
  );
  expect(rows?.map(([code, level]) => [code, level])).toEqual(
    Object.entries(auditMessages).map(([code, { severity }]) => [`\`${code}\``, severity]),
  );
});

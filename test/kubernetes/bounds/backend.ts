import { aiBounds, backendSections, mcpAuthentication, mcpBounds, simpleBounds } from "./shared.ts";
import {
  type Bound,
  chars,
  longText,
  named,
  needs,
  number,
  oneOf,
  server,
  shortText,
  someOf,
  word,
} from "./words.ts";

export const backendBounds: readonly Bound[] = [
  ...oneOf("spec", {
    static: server,
    mcp: { targets: [{ name: "a", static: server }] },
    ai: { provider: { openai: {} } },
    dynamicForwardProxy: {},
    a2a: server,
  }),
  ...[
    [{ allowPrivate: ["10.0.0.0/8", "::1"] }, { allowPrivate: [] }],
    [{ port: 65535 }, { port: 65536 }],
    [{ port: 1 }, { port: 0 }],
    [{}, { ports: 8443 }],
    ...["10.0.0.0/33", "10.0.0.0/", "10.0.0", "fe80::1%lo", "localhost"].map((bad) => [
      { allowPrivate: ["fd00::/8"] },
      { allowPrivate: [bad] },
    ]),
  ].map(
    ([good, bad]): Bound => ["spec", { dynamicForwardProxy: good }, { dynamicForwardProxy: bad }],
  ),
  ...needs("spec.static", server, "host", "port"),
  ...shortText("spec.static.host"),
  ...number("spec.static.port", 1, 65535),
];

export const policiesBounds: readonly Bound[] = [
  ...someOf("spec.policies", {
    ...backendSections,
    mcp: { authentication: mcpAuthentication },
    ai: { modelAliases: {} },
  }),
  ...simpleBounds("spec.policies"),
  ...mcpBounds("spec.policies"),
  ...aiBounds("spec.policies.ai"),
  ["spec.policies.ai", { routes: {} }, {}],
];

export const mcpTarget = "spec.mcp.targets.0";
export const mcpBackendBounds: readonly Bound[] = [
  ...named("spec.mcp.targets", 32, (index) => ({ name: `t${index}`, static: server })),
  ...word("spec.mcp.sessionRouting", "Stateful", "Stateless"),
  ["spec.mcp.targets.0.name", chars(253), chars(254)],
  [`${mcpTarget}.name`, "a-1", "A"],
  ...oneOf(mcpTarget, { static: server, selector: { services: {} } }).map(
    ([path, good, bad]): Bound => [
      path,
      { name: "a", ...(good as object) },
      { name: "a", ...(bad as object) },
    ],
  ),
  ...someOf(mcpTarget, { namespaces: {}, services: {} }).map(
    ([path, good]): Bound => [path, { name: "a", selector: good }, { name: "a", selector: {} }],
  ),
  ...needs(`${mcpTarget}.static`, server, "port"),
  ...oneOf(`${mcpTarget}.static`, { host: "a.test", backendRef: { name: "a" } }).map(
    ([path, good, bad]): Bound => [
      path,
      { port: 80, ...(good as object) },
      { port: 80, ...(bad as object) },
    ],
  ),
  ...shortText(`${mcpTarget}.static.host`),
  ...number(`${mcpTarget}.static.port`, 1, 65535),
  ...longText(`${mcpTarget}.static.path`),
  ...word(`${mcpTarget}.static.protocol`, "StreamableHTTP", "SSE"),
  ...someOf(`${mcpTarget}.static.policies`, {
    ...backendSections,
    mcp: { authentication: mcpAuthentication },
  }),
  ...simpleBounds(`${mcpTarget}.static.policies`),
  ...mcpBounds(`${mcpTarget}.static.policies`),
  [`${mcpTarget}.static.policies`, { tcp: {} }, { ai: { routes: {} } }],
];

export const provider = "spec.ai.provider";
export const providers = {
  ...{ openai: {}, azureopenai: { endpoint: "a", deploymentName: "b" }, anthropic: {}, gemini: {} },
  ...{ vertexai: { projectId: "a", region: "b" }, bedrock: {} },
};
export const guardrail = { identifier: "a", version: "1" };
export const group = (name: string) => ({ providers: [{ name, openai: {} }] });
export const aiBackendBounds: readonly Bound[] = [
  ...oneOf("spec.ai", { provider: { openai: {} }, groups: [group("a")] }),
  ...oneOf(provider, providers),
  ...oneOf(provider, {
    ...{ llmProvider1: {}, llmProvider2: { endpoint: "a" }, llmProvider3: {}, llmProvider4: {} },
    ...{ llmProvider5: { projectId: "a", region: "b" }, llmProvider6: {} },
  }),
  ...["openai", "anthropic", "gemini"].flatMap((each): readonly Bound[] => [
    [provider, { [each]: { model: chars(256) } }, { [each]: { model: chars(257) } }],
    [provider, { [each]: { model: "a" } }, { [each]: { model: "" } }],
  ]),
  [provider, { azureopenai: { endpoint: "a" } }, { azureopenai: {} }],
  [provider, { azureopenai: { endpoint: chars(256) } }, { azureopenai: { endpoint: chars(257) } }],
  [
    provider,
    { azureopenai: { endpoint: "a", apiVersion: "2024-02-01", deploymentName: "d" } },
    { azureopenai: { endpoint: "a", apiVersion: "2024-02-01" } },
  ],
  [
    provider,
    { azureopenai: { endpoint: "a", deploymentName: "d", apiVersion: chars(64) } },
    { azureopenai: { endpoint: "a", deploymentName: "d", apiVersion: chars(65) } },
  ],
  ...needs(provider, { vertexai: providers.vertexai }, "vertexai"),
  ...(["projectId", "region"] as const).flatMap((field): readonly Bound[] => [
    [
      provider,
      { vertexai: { ...providers.vertexai, [field]: chars(64) } },
      { vertexai: { ...providers.vertexai, [field]: chars(65) } },
    ],
    [provider, { vertexai: providers.vertexai }, { vertexai: { [field]: "a" } }],
  ]),
  [provider, { bedrock: { region: chars(63) } }, { bedrock: { region: chars(64) } }],
  [provider, { bedrock: { region: "eu-1" } }, { bedrock: { region: "EU" } }],
  [provider, { bedrock: { guardrail } }, { bedrock: { guardrail: { identifier: "a" } } }],
  [provider, { bedrock: { guardrail } }, { bedrock: { guardrail: { version: "a" } } }],
  [provider, { openai: {}, host: chars(256) }, { openai: {}, host: chars(257) }],
  [provider, { openai: {}, port: 65535 }, { openai: {}, port: 65536 }],
  [provider, { openai: {}, port: 1 }, { openai: {}, port: 0 }],
  [provider, { openai: {}, path: chars(1024) }, { openai: {}, path: chars(1025) }],
  ...named("spec.ai.groups", 32, (index) => group(`p${index}`)),
  ...named("spec.ai.groups.0.providers", 32, (index) => ({ name: `p${index}`, openai: {} })),
  ["spec.ai.groups", [group("a"), group("b")], [group("a"), group("a")]],
  ["spec.ai.groups.0", group("a"), {}],
  [
    "spec.ai.groups.0.providers.0",
    { name: "a", openai: {}, policies: { auth: { key: "k" } } },
    { name: "a", openai: {}, policies: { mcp: { authentication: mcpAuthentication } } },
  ],
  [
    "spec.ai.groups.0.providers.0",
    { name: "a", openai: {}, policies: { ai: { routes: {} } } },
    { name: "a", openai: {}, policies: {} },
  ],
  ["spec.ai.groups.0.providers.0", { name: "a", openai: {} }, { openai: {} }],
];

import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, Printable } from "../../code/hole.ts";
import { imported, isIdentifier, name } from "../../code/names.ts";
import { call, value } from "../../code/syntax.ts";
import type { BackendScope } from "../backend.ts";
import { upstreamSettings } from "../parts/connection.ts";
import { endpointPicker } from "../parts/endpoint-picker.ts";
import { healthSettings } from "../parts/health.ts";
import { upstreamUrl } from "../parts/upstream-url.ts";
import type { AiFunctions } from "./functions.ts";
import { keyCode, keyHeaderCode } from "./key-code.ts";
import { modelNaming } from "./model-naming.ts";

type AiNode = BackendNode<"ai">;
type ProviderNode = AiNode["groups"][number][number];

const CHAT = "gwc/runtime/llm/chat";

/** Names of the tables of prices. */
const TABLES: Readonly<Record<ProviderNode["pricedVendors"][number], string>> = {
  anthropic: "ANTHROPIC_PRICES",
  openai: "OPENAI_PRICES",
  "gcp.gemini": "GCP_GEMINI_PRICES",
  x_ai: "X_AI_PRICES",
  deepseek: "DEEPSEEK_PRICES",
  moonshot_ai: "MOONSHOT_AI_PRICES",
};

/** Declares the providers of a route by name. */
export function providersCode(
  { groups, origin }: AiNode,
  scope: BackendScope,
  functions: AiFunctions,
): Code {
  const { trace } = scope;
  const members = groups.flat().map(
    (node) => code`
      ${trace(node.origin)}
      ${isIdentifier(node.name) ? name(node.name) : literal(node.name)}: ${providerCode(node, scope, functions)},
    `,
  );
  return code`
    ${trace(origin)}
    const providers = {
      ${members}
    };
  `;
}

/** Refers to a provider. */
export function providerReference(node: Pick<ProviderNode, "name">): Code {
  return isIdentifier(node.name)
    ? code`providers.${name(node.name)}`
    : code`providers[${literal(node.name)}]`;
}

function providerCode(node: ProviderNode, scope: BackendScope, functions: AiFunctions): Code {
  const settings = {
    name: node.name,
    system: node.system,
    model: modelCode(node),
    ...upstreamSettings(node.url, node.connection, node.key && keyCode(node.key)),
    prices: pricesCode(node),
    ...(node.defaultPath !== undefined && { url: apiUrlCode(node, node.defaultPath) }),
    headers: node.headers.length === 0 ? undefined : node.headers,
    clientKey: node.clientKey && keyHeaderCode(node.clientKey),
    health: node.health && healthSettings(node.health, functions.isUnhealthy(node)),
    open: node.picking && pickingCode(node.picking, scope),
  };
  const open = imported("gwc/runtime/llm/providers/provider", "openProvider");
  return code`${open}(${literal(settings)})`;
}

/** Writes the function that opens the servers of a pool. */
function pickingCode(node: NonNullable<ProviderNode["picking"]>, scope: BackendScope): Code {
  const settings = {
    picker: endpointPicker(node, scope.maxBufferSize),
    passesOnFailure: node.passesOnFailure,
    ...(node.takesAnyEndpoint && { takesAnyEndpoint: true }),
  };
  const open = imported("gwc/runtime/llm/providers/picked-upstream", "pickingEndpoints");
  return code`${open}(${literal(settings)})`;
}

/** Writes a base URL whose path is only known when the gateway starts. */
function apiUrlCode({ url, connection }: ProviderNode, path: string): Code {
  const read = imported("gwc/runtime/process/startup-values", "apiUrl");
  const address = connection.tls === undefined ? url : upstreamUrl(url, true);
  return code`${call(read, [literal(address), value(path)])}`;
}

function pricesCode({ prices = {}, pricedVendors }: ProviderNode): Code | undefined {
  const rows = Object.entries(prices).map(([model, { rates, tiers }]): [string, Printable] => [
    model,
    { rates: { ...rates }, tiers: tiers?.map((tier) => ({ ...tier, rates: { ...tier.rates } })) },
  ]);
  if (pricedVendors.length > 0) {
    const tables = literal(
      pricedVendors.map((vendor) => imported(`${CHAT}/vendor-prices`, TABLES[vendor])),
    );
    const known = imported(`${CHAT}/known-prices`, "knownPrices");
    return code`${call(known, rows.length === 0 ? [tables] : [tables, literal(rows)])}`;
  }
  return rows.length === 0 ? undefined : code`new Map(${literal(rows)})`;
}

/** Returns the model of all requests, as the provider's paths name it. */
function modelCode({ model, modelName }: ProviderNode): Printable | undefined {
  if (model === undefined || modelName === undefined) return model;
  return code`${modelNaming(modelName)}(${literal(model)})`;
}

import { type Gateway, startGateway } from "../../harness/gateway.ts";
import type { Scripted } from "../../harness/scripted.ts";
import { clients, type ProviderCase, providers } from "./pairs.ts";

/** One way from a client to a provider. */
export interface Pair {
  readonly client: string;
  readonly provider: ProviderCase;
  /** The prefix of its request paths. */
  readonly prefix: string;
}

/** Every way. */
export const pairs: readonly Pair[] = Object.keys(clients).flatMap((client) =>
  providers.map((provider, index) => ({ client, provider, prefix: `/${client}/${index}` })),
);

/**
 * For each client format of OpenAI and Anthropic one provider of each format that is spoken there, with the names of both
 * before it.
 */
export const pairsOfFormats = pairs
  .filter(({ client }) => client !== "generate-content" && client !== "converse")
  .filter(({ provider }) =>
    ["openai", "openai, api: responses", "anthropic", "gemini", "bedrock, Claude"].includes(
      provider.name,
    ),
  )
  .map((pair) => [pair.client, pair.provider.name, pair] as const);

function routesOf(client: string): Readonly<Record<string, string>> {
  const { path = "", streamPath = path, type = client } = clients[client] ?? {};
  return { [path]: type, [streamPath]: type };
}

/** One gateway with a route for each pair. */
export function startPairs({ host }: Scripted): Promise<Gateway> {
  return startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: pairs.map(({ client, provider, prefix }) => ({
          name: `${client}-${provider.name.replace(/\W+/g, "-")}`,
          matches: [{ path: { pathPrefix: prefix } }],
          policies: {
            backendAuth: { key: "${KEY}" },
            ai: { routes: routesOf(client) },
          },
          backends: [{ ai: { provider: provider.provider, hostOverride: host } }],
        })),
      },
    ],
  });
}

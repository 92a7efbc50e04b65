import { type Gateway, startGateway } from "./gateway.ts";

/** Settings of a route of models besides those of its paths. */
export interface AiOptions {
  /** As under `ai.provider`. OpenAI's own API unless given. */
  readonly provider?: object;
  /** As under `policies.ai`. */
  readonly ai?: object;
  /** More of the backend. */
  readonly backend?: object;
  /** More policies of the route. */
  readonly policies?: object;
}

/** The paths of each client format, as in `policies.ai.routes`. */
export const everyFormat = {
  "/v1/messages": "messages",
  "/v1/responses": "responses",
  ":generateContent": "generateContent",
  ":streamGenerateContent": "generateContent",
  "/converse": "converse",
  "/converse-stream": "converse",
  "*": "completions",
} as const;

/** A gateway with one route to a provider at `host:port`, which it tells the key `provider-key`; `routes` as in the policy. */
export function startAiGateway(
  host: string,
  routes: Readonly<Record<string, string>>,
  { provider = { openAI: {} }, ai = {}, backend = {}, policies = {} }: AiOptions = {},
): Promise<Gateway> {
  return startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: [
          {
            policies: { backendAuth: { key: "${KEY}" }, ai: { routes, ...ai }, ...policies },
            backends: [{ ai: { provider, hostOverride: host, ...backend } }],
          },
        ],
      },
    ],
  });
}

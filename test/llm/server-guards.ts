import { patient } from "../harness/patient-callout.ts";

/** A long text with a secret in its midst. */
export const long = `${"All is well here. ".repeat(40)}secret7 ${"And so it repeats. ".repeat(40)}`;

/** The responses of the model. */
export const replies = [
  { prompt: "long", response: { content: long } },
  { prompt: "", response: { content: "Hello there." } },
];

/** The behaviors of a webhook by path whose responses are invalid. */
export const rubbish = [
  ...["no-json", "no-object", "no-action", "list", "number", "fewer", "no-content", "no-utf8"],
  ...["deep", "empty"],
];

/** Guards that ask servers, by the names of their routes. `webhook`: its URL; `services`: the host of all others. */
export function serverGuards(webhook: string, services: string): Readonly<Record<string, object>> {
  const hook = (kind: string) => ({
    webhook: { target: { host: `${webhook}/${kind}`, policies: patient } },
  });
  return {
    headers: {
      request: [
        {
          webhook: {
            target: { host: `${webhook}/pass`, policies: patient },
            forwardHeaderMatches: [
              { name: "X-Tenant", value: { exact: "a" } },
              { name: "x-trace", value: { regex: "[0-9]+" } },
            ],
          },
        },
      ],
    },
    made: {
      request: [
        {
          webhook: {
            target: { host: webhook, policies: patient },
            forwardHeaderMatches: [{ name: "x-tenant", value: { regex: ".*" } }],
            headers: {
              "X-Tenant": 'request.headers["x-tenant"] + "-1"',
              "x-key": "apiKey.name",
              "x-asked": 'llm.provider + "/" + llmRequest.model',
              "x-none": 'request.headers["x-missing"]',
              ":path": '"/mask" + "/request"',
            },
          },
        },
      ],
    },
    windows: { response: [hook("mask")], window: 64 },
    ended: { response: [hook("reject")], window: 64 },
    vectors: { request: [{ regex: { rules: [{ builtin: "email" }] } }] },
    bytes: { request: [{ regex: { rules: [{ builtin: "creditCard" }] } }] },
    named: { request: [{ webhook: { target: { backend: "hook" } } }] },
    ordered: {
      request: [
        { regex: { rules: [{ pattern: "secret1" }] } },
        hook("mask"),
        { regex: { rules: [{ pattern: "\\[hidden\\]" }], action: "reject" } },
      ],
    },
    tools: { request: [{ ...hook("mask"), scope: ["toolInput", "toolOutput"] }] },
    system: {
      request: [{ regex: { rules: [{ builtin: "email" }] }, scope: ["systemPrompt"] }],
    },
    bedrock: {
      request: [
        {
          bedrockGuardrails: {
            guardrailIdentifier: "arn:aws:bedrock:eu-west-1:1:guardrail/abc",
            guardrailVersion: "2",
            region: "eu-west-1",
            host: `http://${services}/masks`,
            policies: {
              ...patient,
              backendAuth: { aws: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "${KEY}" } },
            },
          },
        },
      ],
    },
    armor: {
      request: [
        {
          googleModelArmor: {
            templateId: "shield",
            projectId: "shop-1",
            location: "europe-west4",
            host: `http://${services}/finds`,
            policies: { ...patient, backendAuth: { key: "${KEY}" } },
          },
        },
      ],
    },
    azure: {
      request: [
        {
          azureContentSafety: {
            endpoint: `http://${services}/finds`,
            analyzeText: { severityThreshold: 6, blocklistNames: ["rivals"] },
            policies: { ...patient, backendAuth: { key: "${KEY}" } },
          },
        },
      ],
    },
    token: {
      request: [
        {
          azureContentSafety: {
            endpoint: `http://${services}/finds`,
            detectJailbreak: {},
            policies: { ...patient, backendAuth: { azure: { implicit: {} } } },
          },
        },
      ],
    },
    unwatched: { response: [hook("reject")], streaming: "Disabled" },
    own: {
      request: [
        {
          ...hook("reject-bare"),
          rejection: {
            status: 422,
            body: "<p>No.</p>",
            headers: { set: { "content-type": "text/html" } },
          },
        },
      ],
    },
    ...Object.fromEntries(rubbish.map((kind) => [kind, { request: [hook(kind)] }])),
  };
}

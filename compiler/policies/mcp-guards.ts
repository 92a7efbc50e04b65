import { guardChanges, guardRest } from "../backends/ai/guard-changes.ts";
import { rpcRejection } from "../backends/ai/guard-fields.ts";
import {
  lowerGuard,
  requestGuardKinds,
  responseGuardKinds,
} from "../backends/ai/guard-file-form.ts";
import { guardKinds, readGuard } from "../backends/ai/guard-manifest-form.ts";
import { type PromptGuardNode, resolveWholeGuards } from "../backends/ai/guards.ts";
import { keyedBackend } from "../backends/parts/manifest-connection.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import {
  DEFAULT_REJECTION,
  DEFAULT_RESPONSE_REJECTION,
  type GuardConfig,
} from "../model/prompt-guards.ts";
import { shownText } from "../model/texts.ts";
import { type Infer, list, object, type Schema } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** `mcpGuards` as configured. */
interface McpGuardsConfig {
  readonly request: readonly GuardConfig[];
  readonly response: readonly GuardConfig[];
  readonly origin: Origin;
}

const DESCRIPTION =
  "Guards that mask or reject what clients send to MCP servers, and get from them.";

function guards<Request, Response>(request: Schema<Request>, response: Schema<Response>) {
  const phase = <Guard>(guard: Schema<Guard>, description: string) =>
    list(guard, { minItems: 1, maxItems: 8, description });
  return {
    request: phase(
      request,
      "Guards of arguments, and of clients' answers to questions of servers, applied in this order.",
    ),
    response: phase(
      response,
      "Guards of results, and of the messages and questions that servers send before them, applied in this order.",
    ),
  };
}

const rejection = {
  request: rpcRejection(DEFAULT_REJECTION.message),
  response: rpcRejection(DEFAULT_RESPONSE_REJECTION.message),
};

const schema = object(
  guards(
    object(
      { ...requestGuardKinds, response: rejection.request },
      { exactlyOneOf: Object.keys(requestGuardKinds), description: "A guard." },
    ),
    object(
      { ...responseGuardKinds, response: rejection.response },
      { exactlyOneOf: Object.keys(responseGuardKinds), description: "A guard." },
    ),
  ),
  {
    atLeastOneOf: ["request", "response"],
    description: DESCRIPTION,
    examples: [{ response: [{ regex: { rules: [{ builtin: "email" }] } }] }],
  },
);

/** Connections of known services are short here, because the resource definitions repeat them for each guard. */
const kinds = guardKinds(keyedBackend);

const kubernetesSchema = object(
  guards(
    object(
      { ...kinds.request, response: rejection.request },
      { exactlyOneOf: Object.keys(kinds.request), description: "A guard." },
    ),
    object(
      { ...kinds.response, response: rejection.response },
      { exactlyOneOf: Object.keys(kinds.response), description: "A guard." },
    ),
  ),
  {
    atLeastOneOf: ["request", "response"],
    description: DESCRIPTION,
    examples: [{ response: [{ regex: { builtins: ["Email"] } }] }],
  },
);

/** Masks and rejects arguments and results of MCP. */
export const mcpGuards: Policy<
  "mcpGuards",
  McpGuardsConfig,
  PromptGuardNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "mcpGuards",
  summary: "masks or rejects arguments and results of MCP with the guards of prompts",
  scope: ["route"],
  traits: {
    actsOn: ["mcp"],
    changesRequest: () => "anything",
    promptGuard: (settings) => settings,
  },
  plannedOnBackend: { instead: "write it on the route" },
  schema,
  names: ["mcpGuards", "webhookHeaders"],
  access: {
    direction: "closes",
    checks: ({ request }) =>
      request.flatMap((guard) =>
        guard.kind === "regex"
          ? []
          : {
              kind: "outside",
              what: `the server ${shownText(guard.target.url)} checks arguments`,
              decidesWho: false,
              passesOnFailure: guard.passesOnFailure,
            },
      ),
    compare: {
      changes: (before, after) => [
        ...guardChanges("arguments", before.request, after.request),
        ...guardChanges("results", before.response, after.response),
      ],
      rest: ({ request, response }) =>
        [request, response].map((each) => each.map((guard) => guardRest(guard, true))),
    },
  },
  lowering: {
    merge: "replace",
    lower: ({ request = [], response = [] }, origin) => ({
      request: request.map((each, at) =>
        lowerGuard(each, DEFAULT_REJECTION, childOf(origin, "request", at)),
      ),
      response: response.map((each, at) =>
        lowerGuard(each, DEFAULT_RESPONSE_REJECTION, childOf(origin, "response", at)),
      ),
      origin,
    }),
    resolve: ({ request, response, origin }, context) => {
      const requests = resolveWholeGuards(request, context);
      const responses = resolveWholeGuards(response, context);
      if (requests === undefined || responses === undefined) return undefined;
      return { request: requests, response: responses, guardsStreams: true, origin };
    },
  },
  kubernetes: {
    field: "backend.mcp.guards",
    schema: kubernetesSchema,
    lower: ({ request = [], response = [] }, context) => {
      const { origin } = context;
      const requests = request.flatMap((each, at) => {
        const own = { ...context, origin: childOf(origin, "request", at) };
        return readGuard(each, DEFAULT_REJECTION, own) ?? [];
      });
      const responses = response.flatMap((each, at) => {
        const own = { ...context, origin: childOf(origin, "response", at) };
        return readGuard(each, DEFAULT_RESPONSE_REJECTION, own) ?? [];
      });
      const isWhole = requests.length === request.length && responses.length === response.length;
      return isWhole ? { request: requests, response: responses, origin } : undefined;
    },
  },
};

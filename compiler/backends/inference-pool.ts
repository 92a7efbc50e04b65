import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../model/connections.ts";
import { forwardUrl } from "../model/host-url.ts";
import type { Text } from "../model/texts.ts";
import { NAMED_SERVER } from "../model/traffic.ts";
import { choice, type Infer, object, pick, text } from "../schema/schema.ts";
import type { Backend } from "./backend.ts";
import type { InferencePoolConfig } from "./inference-pool/inference-pool-config.ts";
import { poolOf } from "./inference-pool/resource-form.ts";
import { type CalloutTarget, grpcTarget } from "./parts/callout-target.ts";
import { resolveConnection, secureUrl } from "./parts/connection.ts";
import { resolveDestination } from "./parts/destination.ts";
import { backendPolicySchemas } from "./parts/policies-schema.ts";
import { curlCommand } from "./parts/try-request.ts";

/** Model servers, and who picks one of them for each request. */
interface InferencePoolNode {
  readonly kind: "inferencePool";
  readonly url: Text;
  readonly connection: BackendConnection;
  readonly picker: CalloutTarget;
  readonly passesOnFailure: boolean;
  readonly origin: Origin;
}

const schema = () =>
  object(
    {
      host: text(
        "`host:port` or a URL: the addresses of the name, with the port, are the pool's endpoints (a headless Service).",
        { readAtStart: true, examples: ["models.default.svc.cluster.local:8000"] },
      ),
      endpointPicker: object(
        {
          host: text("`host:port` or a URL of the picker.", {
            readAtStart: true,
            examples: ["picker.default.svc.cluster.local:9002"],
          }),
          policies: object(
            pick(backendPolicySchemas(), ["backendTLS", "backendAuth", "http", "tcp"]),
            { minProperties: 1, description: "How the picker is reached." },
          ),
        },
        {
          required: ["host"],
          description:
            "Who names an endpoint for each request in `x-gateway-destination-endpoint` (endpoint picker protocol, over Envoy's external processing).",
        },
      ),
      failureMode: choice(
        "What becomes of requests for which the picker names no endpoint of the pool: 503, or any endpoint.",
        ["failClosed", "failOpen"],
        { default: "failClosed" },
      ),
    },
    {
      required: ["host", "endpointPicker"],
      description: "Model servers, of which an endpoint picker chooses one for each request.",
    },
  );

/** Model servers, of which a picker chooses one for each request (Gateway API inference extension). */
export const inferencePool: Backend<
  "inferencePool",
  Infer<ReturnType<typeof schema>>,
  InferencePoolConfig,
  InferencePoolNode
> = {
  kind: "inferencePool",
  summary:
    "passes requests on to the model server that an endpoint picker names (Gateway API inference extension)",
  schema,
  lower: ({ host, endpointPicker, failureMode }, { origin, policies }) => {
    const at = childOf(origin, "endpointPicker");
    return {
      address: host,
      picker: {
        to: { host: endpointPicker.host },
        policies: policies(endpointPicker.policies, childOf(at, "policies")),
        origin: childOf(at, "host"),
      },
      passesOnFailure: failureMode === "failOpen",
    };
  },
  ofResource: poolOf,
  protocol: "http",
  carries: () => [{ traffic: ["forwards", ...NAMED_SERVER] }],
  names: ["inferencePool", "endpointPicker", "offered", "upstream"],
  resolve: ({ config, policies = {}, keepsHost, origin }, context) => {
    const { address, picker, passesOnFailure } = config;
    const { diagnostics } = context;
    const url = forwardUrl(address, childOf(origin, "host"), diagnostics);
    const found = resolveDestination(picker, { ...context, namedServer: () => undefined });
    const connection = {
      ...resolveConnection(policies, context),
      ...(keepsHost === true && { keepsHost }),
    };
    if (url === undefined || found === undefined) return undefined;
    return {
      kind: "inferencePool",
      url: secureUrl(url, connection),
      connection,
      picker: grpcTarget(found, diagnostics),
      passesOnFailure,
      origin,
    };
  },
  passesToken: ({ connection }) => connection.isPassthrough,
  describe: ({ url, picker }) => [
    { label: "endpoints", address: url },
    { label: "picker", address: picker.url },
  ],
  tryCommand: (request) => curlCommand(request),
};

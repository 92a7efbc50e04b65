import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../model/connections.ts";
import { forwardUrl, secureUrl } from "../model/host-url.ts";
import type { Text } from "../model/texts.ts";
import { NAMED_SERVER } from "../model/traffic.ts";
import { type Infer, object, text } from "../schema/schema.ts";
import type { Backend } from "./backend.ts";
import type { InferencePoolConfig } from "./inference-pool/inference-pool-config.ts";
import { lowerPicking, pickerSchemas } from "./inference-pool/picking.ts";
import { poolOf } from "./inference-pool/pool-of-resource.ts";
import { type PickingNode, resolvePicking } from "./inference-pool/resolve-picking.ts";
import { resolveConnection } from "./parts/connection.ts";
import { curlCommand } from "./parts/try-request.ts";

/** Model servers, and the endpoint picker that chooses one for each request. */
interface InferencePoolNode extends PickingNode {
  readonly kind: "inferencePool";
  readonly url: Text;
  readonly connection: BackendConnection;
  readonly weight: number;
  readonly origin: Origin;
}

const schema = () =>
  object(
    {
      host: text(
        "`host:port` or a URL. The addresses that the name resolves to, with the port, are the pool's endpoints (a headless Service).",
        { readAtStart: true, examples: ["models.default.svc.cluster.local:8000"] },
      ),
      ...pickerSchemas(),
    },
    {
      required: ["host", "endpointPicker"],
      description: "Model servers, from which an endpoint picker chooses one for each request.",
    },
  );

/**
 * Forwards to the model server that an endpoint picker chooses for each request (Gateway API inference extension).
 */
export const inferencePool: Backend<
  "inferencePool",
  Infer<ReturnType<typeof schema>>,
  InferencePoolConfig,
  InferencePoolNode
> = {
  kind: "inferencePool",
  summary:
    "forwards requests to the model server that an endpoint picker chooses (Gateway API inference extension), or distributes them over several pools by weight",
  schema,
  lower: ({ host, ...picking }, context) => ({ address: host, ...lowerPicking(picking, context) }),
  ofResource: poolOf,
  protocol: "http",
  carries: () => [{ traffic: ["forwards", "shares", ...NAMED_SERVER] }],
  takesWeight: "withItsKind",
  names: [
    "inferencePool",
    "inferencePools",
    "endpointPicker",
    "pool",
    "picker",
    "offered",
    "upstream",
  ],
  resolve: ({ config, policies = {}, keepsHost, weight = 1, origin }, context) => {
    const url = forwardUrl(config.address, childOf(origin, "host"), context.diagnostics);
    const picking = resolvePicking(config, context);
    const connection = {
      ...resolveConnection(policies, context),
      ...(keepsHost === true && { keepsHost }),
    };
    if (url === undefined || picking === undefined) return undefined;
    return {
      kind: "inferencePool",
      url: secureUrl(url, connection),
      connection,
      ...picking,
      weight,
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

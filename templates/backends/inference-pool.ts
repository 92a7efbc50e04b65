import type { BackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import { imported, importedType } from "../code/names.ts";
import { bytes, milliseconds } from "../code/units.ts";
import type { AtLeastOne, BackendCode, BackendScope, BackendTemplate } from "./backend.ts";
import { passthrough, upstreamSettings } from "./parts/connection.ts";
import { plainForward } from "./parts/forward.ts";

const MODULE = "gwc/runtime/backends/inference-pool";
const PROCESSING = "gwc/runtime/policies/ext-proc";

/** Model servers: the endpoint picker gets the request, and chooses an endpoint of the pool. */
export const inferencePoolTemplate: BackendTemplate<"inferencePool"> = { code: poolCode };

function poolCode(
  [node]: AtLeastOne<BackendNode<"inferencePool">>,
  scope: BackendScope,
): BackendCode {
  const { url, connection, picker, passesOnFailure, takesAnyEndpoint, origin } = node;
  const open = imported(MODULE, "openInferencePool");
  const channel = imported("gwc/runtime/grpc/channel", "openGrpcChannel");
  const pass = scope.forward ?? plainForward;
  const processor = {
    server: code`${channel}(${literal(upstreamSettings(picker.url, picker.connection))})`,
    deadline: milliseconds(picker.deadline),
    passesOnFailure,
    requestHeaders: "send",
    requestBody: "fullDuplex",
    responseHeaders: "send",
    responseBody: "fullDuplex",
    requestTrailers: "skip",
    responseTrailers: "skip",
    allowsModeOverride: false,
    maxBody: bytes(scope.maxBufferSize),
  };
  const pool = {
    ...upstreamSettings(url, connection),
    ...scope.messagesOf(node),
    passesOnFailure,
    ...(takesAnyEndpoint && { takesAnyEndpoint }),
  };
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const inferencePool = ${open}(${literal(pool)});
        const endpointPicker: ${importedType(PROCESSING, "Processor")} = ${literal(processor)};
      `,
    ],
    first: [],
    guard: [],
    step: [
      ...passthrough([connection]),
      code`const offered = await ${imported(MODULE, "offerEndpoints")}(exchange, inferencePool);`,
      code`if (offered === undefined) return;`,
      code`if (!(await ${imported(PROCESSING, "processExternally")}(exchange, endpointPicker, offered))) return;`,
      code`const upstream = await ${imported(MODULE, "pickedEndpoint")}(exchange, inferencePool);`,
      code`if (upstream === undefined) return;`,
      code`return ${pass(code`upstream`)};`,
    ],
    isAsync: true,
  };
}

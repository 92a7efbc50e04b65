import { backendReference } from "../../../manifests/field-types.ts";
import {
  anyText,
  choice,
  expression,
  integer,
  list,
  map,
  object,
  shortText,
  unsupported,
} from "../../../schema/schema.ts";
import { policyFields } from "../policy-fields.ts";

const expressions = map(expression("A CEL expression."), { maxProperties: 64 });
const headerNames = list(shortText("A header's name."), { maxItems: 64 });

const extAuth = object(
  {
    backendRef: backendReference("The authorization server."),
    grpc: object({
      contextExtensions: map(anyText(), { maxProperties: 64 }),
      requestMetadata: expressions,
    }),
    http: object({
      path: expression("The path that is asked for."),
      redirect: expression("Where a refused client is sent."),
      allowedRequestHeaders: headerNames,
      addRequestHeaders: expressions,
      allowedResponseHeaders: headerNames,
      responseMetadata: expressions,
    }),
    forwardBody: object(
      { maxSize: integer("Bytes.", 1, Number.MAX_SAFE_INTEGER) },
      { required: ["maxSize"] },
    ),
  },
  { required: ["backendRef"], exactlyOneOf: ["grpc", "http"] },
);

const extProc = object(
  { backendRef: backendReference("The external processor.") },
  { required: ["backendRef"] },
);

/** PreRouting rules run before the route is chosen, and may change which one it is. */
const phase = choice("Before or after the route is chosen.", ["PreRouting", "PostRouting"], {
  default: "PostRouting",
});

/** The fields of a GatewayPolicy's `traffic`. */
export function trafficFields() {
  return {
    phase,
    ...policyFields("traffic"),
    extProc: unsupported("external processing", extProc),
    extAuth: unsupported("external authorization", extAuth),
  };
}

import { backendReference } from "../../../manifests/field-types.ts";
import {
  anyText,
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

/** The fields of a GatewayPolicy's `traffic`, without `phase`. */
export function trafficFields() {
  return {
    ...policyFields("traffic"),
    extProc: unsupported("external processing", extProc),
    extAuth: unsupported("external authorization", extAuth),
  };
}

import { isMap, isScalar } from "yaml";
import { type EarlierField, earlierMapping, moved, removed } from "./earlier-field.ts";
import { guardsOf, rejectingAction } from "./earlier-guards.ts";

const REQUEST_TIMEOUT = ["policies", "http", "requestTimeout"];

/** YamlFields of standalone files of agentgateway before 1.0 that have one meaning in the present form. */
export const EARLIER_FIELDS: readonly EarlierField[] = [
  moved(["mcpAuthentication"], "jwksUrl", ["jwks", "url"], { when: isScalar }),
  moved(["mcpAuthentication"], "audience", ["audiences"], { when: isScalar, isList: true }),
  moved(["extAuthz"], "context", ["protocol", "grpc", "context"], { when: isMap }),
  moved(["extAuthz"], "timeout", REQUEST_TIMEOUT, { when: isScalar }),
  moved(["remoteRateLimit"], "timeout", REQUEST_TIMEOUT, { when: isScalar }),
  moved(["extAuthz"], "failOpen", ["failureMode"], {
    when: isBoolean,
    value: (isOpen) => (isOpen === true ? "allow" : "deny"),
    unless: "statusOnError",
  }),
  moved(["extAuthz"], "statusOnError", ["failureMode", "denyWithStatus"], {
    when: isScalar,
    unless: "failOpen",
  }),
  ...[
    ["backends", "ai"],
    ["groups", "providers"],
  ].flatMap((inside) => [
    moved(inside, "routes", ["policies", "ai", "routes"], { when: isMap }),
    moved(inside, "backendAuth", ["policies", "backendAuth"], { when: isMap }),
    moved(inside, "backendTLS", ["policies", "backendTLS"], { when: isMap }),
  ]),
  guardsOf("request"),
  guardsOf("response"),
  rejectingAction("request"),
  rejectingAction("response"),
  earlierMapping(["prompts"], "append"),
  earlierMapping(["prompts"], "prepend"),
  moved(["tcpRoutes", "policies"], "backendTls", ["backendTLS"]),
  removed(["backends", "mcp"], "name", "nothing refers to the name of an `mcp` backend"),
  removed(["regex", "rules"], "name", "nothing refers to the name of a pattern"),
];

function isBoolean(value: unknown): boolean {
  return isScalar(value) && typeof value.value === "boolean";
}

import {
  type HeaderChangesConfig,
  type HeaderChangesNode,
  headerChangesSchema,
  readClusterHeaderChanges,
  readHeaderChanges,
  resolveHeaderChanges,
} from "./parts/header-modifier.ts";
import type { Policy } from "./policy.ts";

declare module "./policy.ts" {
  interface PolicyConfigs {
    requestHeaderModifier: HeaderChangesConfig;
  }
}

declare module "../ir/program.ts" {
  interface PolicySettings {
    requestHeaderModifier: HeaderChangesNode;
  }
}

/** Headers that the backend sees otherwise than the client sent them (Gateway API RequestHeaderModifier). */
export const requestHeaderModifier: Policy<"requestHeaderModifier"> = {
  kind: "requestHeaderModifier",
  summary: "sets, adds and removes headers of the request before it goes to the backend",
  scope: ["listener", "route"],
  schema: headerChangesSchema("Changes to the request's headers."),
  merge: "replace",
  read: readHeaderChanges,
  cluster: {
    field: "traffic.headerModifiers",
    part: "request",
    filter: "requestHeaderModifier",
    read: (value, { origin }) => readClusterHeaderChanges(value, "request", origin),
  },
  resolve: resolveHeaderChanges,
};

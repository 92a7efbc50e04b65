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
    responseHeaderModifier: HeaderChangesConfig;
  }
}

declare module "../ir/program.ts" {
  interface PolicySettings {
    responseHeaderModifier: HeaderChangesNode;
  }
}

/** Headers that the client sees otherwise than the backend sent them (Gateway API ResponseHeaderModifier). */
export const responseHeaderModifier: Policy<"responseHeaderModifier"> = {
  kind: "responseHeaderModifier",
  summary: "sets, adds and removes headers of the answer, also of one that a later policy makes",
  scope: ["listener", "route"],
  schema: headerChangesSchema("Changes to the answer's headers."),
  merge: "replace",
  read: readHeaderChanges,
  cluster: {
    field: "traffic.headerModifiers",
    part: "response",
    filter: "responseHeaderModifier",
    read: (value, { origin }) => readClusterHeaderChanges(value, "response", origin),
  },
  resolve: resolveHeaderChanges,
};

import type { BackendKind, BackendNode } from "../../compiler/ir/backends.ts";
import { aiTemplate } from "./ai.ts";
import { awsTemplate } from "./aws.ts";
import type { BackendTemplate } from "./backend.ts";
import { dynamicTemplate } from "./dynamic.ts";
import { hostTemplate } from "./host.ts";
import { inferencePoolTemplate } from "./inference-pool.ts";
import { mcpTemplate } from "./mcp.ts";

/** Templates of all kinds of backends. */
const templates: { readonly [Kind in BackendKind]: BackendTemplate<Kind> } = {
  mcp: mcpTemplate,
  ai: aiTemplate,
  host: hostTemplate,
  dynamic: dynamicTemplate,
  inferencePool: inferencePoolTemplate,
  aws: awsTemplate,
};

/** Returns the template of a kind of backend. */
export function backendTemplateOf<Kind extends BackendKind>(kind: Kind): BackendTemplate<Kind> {
  return templates[kind];
}

/** Returns what a backend seals for clients; `undefined` if it seals nothing. */
export function sealedBy<Kind extends BackendKind>(
  node: BackendNode<Kind>,
): "sessions" | "ids" | undefined {
  return backendTemplateOf<Kind>(node.kind).seals?.(node);
}

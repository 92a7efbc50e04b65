import type { Dialect } from "../../../runtime/llm/chat/formats.ts";
import type { KeyHeader } from "../../../runtime/llm/providers/provider.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../../model/connections.ts";
import type { ProviderPolicies, RouteType } from "../../model/llm-policies.ts";
import type { MountedFile, Text } from "../../model/texts.ts";
import type { HealthNode } from "../parts/health.ts";
import type { NamedNode } from "../parts/named-expressions.ts";
import type { PromptGuardNode } from "./guards.ts";
import type { ProviderKind } from "./providers/index.ts";
import type { LlmEndpoint } from "./providers/provider.ts";
import type { VirtualModelNode } from "./virtual-models.ts";

/** The models behind a route. */
export interface AiNode {
  readonly kind: "ai";
  /** What the ends of paths carry, the longest one first; the empty one is every path. */
  readonly routes: readonly { readonly suffix: string; readonly type: RouteType }[];
  readonly groups: readonly (readonly AiProviderNode[])[];
  /** Responses name the provider. */
  readonly namesProvider: boolean;
  /** Milliseconds of silence after which a client of a stream gets a sign of life. */
  readonly streamKeepAlive: number;
  /** The model that each group alone serves, by the name that clients use; undefined: all serve any. */
  readonly served: readonly string[] | undefined;
  /** Models that stand for others of them. */
  readonly virtualModels: readonly VirtualModelNode[];
  /** The models that clients can be told of. */
  readonly models: readonly ModelNode[];
  readonly origin: Origin;
}

/** A model by the name that clients ask for it. */
export interface ModelNode {
  readonly id: string;
  /** `gen_ai.provider.name` of whom it is asked. */
  readonly owner: string;
}

/** One provider of a route, complete. */
export interface AiProviderNode {
  readonly name: string;
  /** The name as an identifier, which other providers may have too. */
  readonly id: string;
  readonly kind: ProviderKind;
  readonly system: string;
  /** Undefined: the one that the request names. */
  readonly model: string | undefined;
  /** The function that gives models the names that the provider's paths have; undefined: they have them. */
  readonly modelName: "vertexModel" | undefined;
  readonly url: Text;
  readonly connection: BackendConnection;
  readonly headers: readonly string[];
  /** The header of its own in which the key goes; absent: `Authorization`, which the connection has. */
  readonly key: { readonly header: KeyHeader; readonly value: Text | MountedFile } | undefined;
  /** The header in which a client's own key goes on to it; undefined: the gateway has its own. */
  readonly clientKey: KeyHeader | undefined;
  /** By route type, as far as it serves it. */
  readonly endpoints: { readonly [Type in RouteType]?: LlmEndpoint };
  /** The path of the configuration in the place of every other one; undefined: none. */
  readonly path: string | undefined;
  /** What its requests say beside those of other providers of its format. */
  readonly dialect: Pick<Dialect, "guardrail" | "caching">;
  /** About as many tokens as a request has are taken from limits before it goes out. */
  readonly expectsTokens: boolean;
  /** It is the provider's own server, of which the newest ways are known. */
  readonly isOwnServer: boolean;
  readonly policies: ProviderPolicies | undefined;
  /** Fields of requests that expressions make; undefined: none. */
  readonly transforms: TransformsNode | undefined;
  /** What guards its requests and responses; undefined: nothing does. */
  readonly guard: PromptGuardNode | undefined;
  /** When it is left alone; undefined: there is no other to ask. */
  readonly health: HealthNode | undefined;
  readonly origin: Origin;
}

/** Fields of requests and what expressions make of them. */
export interface TransformsNode {
  readonly fields: readonly NamedNode[];
  readonly origin: Origin;
}

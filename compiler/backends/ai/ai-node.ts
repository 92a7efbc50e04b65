import type { Dialect } from "../../../runtime/llm/chat/formats.ts";
import type { ModelPrice } from "../../../runtime/llm/chat/prices.ts";
import type { ModelTraits } from "../../../runtime/llm/chat/request.ts";
import type { KeyHeader } from "../../../runtime/llm/providers/provider.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../../model/connections.ts";
import type { Json } from "../../model/json.ts";
import type { ProviderPolicies, RouteType } from "../../model/llm-policies.ts";
import type { MountedFile, Text } from "../../model/texts.ts";
import type { PickingNode } from "../inference-pool/resolve-picking.ts";
import type { HealthNode } from "../parts/health.ts";
import type { NamedNode } from "../parts/named-expressions.ts";
import type { PromptGuardNode } from "./guards.ts";
import type { ModelConditionsNode } from "./model-conditions.ts";
import type { PricedVendor } from "./priced-vendors.ts";
import type { ProviderKind } from "./providers/index.ts";
import type { LlmEndpoint } from "./providers/provider.ts";
import type { ResponseCacheNode } from "./response-cache.ts";
import type { VirtualModelNode } from "./virtual-models.ts";

/** The LLM providers behind a route. */
export interface AiNode {
  readonly kind: "ai";
  /** Suffixes of paths and their traffic, longest first; the empty suffix matches every path. */
  readonly routes: readonly { readonly suffix: string; readonly type: RouteType }[];
  readonly groups: readonly (readonly AiProviderNode[])[];
  /** Whether responses name the provider. */
  readonly namesProvider: boolean;
  /** Milliseconds without data after which a streaming client gets a keep-alive event. */
  readonly streamKeepAlive: number;
  /** Model that each group serves exclusively, by the name that clients use; `undefined` if all serve any. */
  readonly served: readonly string[] | undefined;
  /** Which requests each group serves, besides its model; empty if all groups serve all. */
  readonly conditions: readonly (ModelConditionsNode | undefined)[];
  /** Groups of served models to which requests to other paths pass unread. */
  readonly passed: readonly number[];
  /** Served models that clients cannot request: only virtual models use them. */
  readonly internal: readonly string[];
  /** Virtual models, which route to others. */
  readonly virtualModels: readonly VirtualModelNode[];
  /** Requests that batches may have, and that may name files, by the type of the batch's own API. */
  readonly batched: readonly {
    readonly type: RouteType;
    readonly requests: readonly { readonly type: RouteType; readonly path: string }[];
  }[];
  /** Whether responses that providers store belong to callers: a policy tells callers apart, who share a provider's key. */
  readonly ownsResponses: boolean;
  /** Models that are listed to clients. */
  readonly models: readonly ModelNode[];
  readonly origin: Origin;
}

/** A model, by the name that clients use. */
export interface ModelNode {
  readonly id: string;
  /** `gen_ai.provider.name` of its provider. */
  readonly owner: string;
  /** Groups with rules of which one must allow the caller; absent if everybody may use it. */
  readonly ruledBy?: readonly number[];
}

/** One provider of a route, complete. */
export interface AiProviderNode {
  readonly name: string;
  /** The name as an identifier, not necessarily unique. */
  readonly id: string;
  readonly kind: ProviderKind;
  readonly system: string;
  /** Fixed model; `undefined` if the request names it. */
  readonly model: string | undefined;
  /** Prices of models; `undefined` if there are none. */
  readonly prices: Readonly<Record<string, ModelPrice>> | undefined;
  /** Vendors whose models clients may request by name, for their prices; empty if `prices` has all. */
  readonly pricedVendors: readonly PricedVendor[];
  /** Traits of models that the configuration names; `undefined` if none are known. */
  readonly traits: Readonly<Record<string, ModelTraits>> | undefined;
  /** Function that converts model names to those of the provider's paths; `undefined` if they are the same. */
  readonly modelName: "vertexModel" | undefined;
  readonly url: Text;
  /** Base path of its API, and the one that replaces it; `undefined` if it is the same. */
  readonly base: { readonly from: string; readonly to: string } | undefined;
  /** Path that the URL gets at startup if it has none; `undefined` if its path is known. */
  readonly defaultPath: string | undefined;
  readonly connection: BackendConnection;
  /** Choice of a server for each request; `undefined` if there is one. */
  readonly picking: PickingNode | undefined;
  readonly headers: readonly string[];
  /** Header for the key; `undefined` for `Authorization`, which is part of the connection. */
  readonly key: { readonly header: KeyHeader; readonly value: Text | MountedFile } | undefined;
  /** Header in which a client's own key is forwarded; `undefined` if the gateway has a key. */
  readonly clientKey: KeyHeader | undefined;
  /** Endpoint per route type, for the types that the provider supports. */
  readonly endpoints: { readonly [Type in RouteType]?: LlmEndpoint };
  /** Configured path, which replaces all others; `undefined` if none. */
  readonly path: string | undefined;
  /** Extensions of its requests over those of other providers with the same format. */
  readonly dialect: Pick<Dialect, "guardrail" | "caching">;
  /** Whether an estimate of a request's tokens is deducted from limits before it is sent. */
  readonly expectsTokens: boolean;
  /** Whether it is the provider's own server, which supports the latest API features. */
  readonly isOwnServer: boolean;
  readonly policies: ProviderPolicies | undefined;
  /** Request fields computed by expressions; `undefined` if none. */
  readonly transforms: TransformsNode | undefined;
  /** Fields of translated requests computed by expressions; `undefined` if none. */
  readonly finalTransforms: TransformsNode | undefined;
  /** Fields of every chat request in the provider's format; empty if there are none. */
  readonly chatFields: Readonly<Record<string, Json>>;
  /** Guards of requests and responses; `undefined` if none. */
  readonly guard: PromptGuardNode | undefined;
  /** Cache of its responses; `undefined` if there is none. */
  readonly cache: ResponseCacheNode | undefined;
  /** Conditions of ejection; `undefined` if there is no other provider to fall back to. */
  readonly health: HealthNode | undefined;
  readonly origin: Origin;
}

/** Request fields and the expressions that compute them. */
export interface TransformsNode {
  readonly fields: readonly NamedNode[];
  readonly origin: Origin;
}

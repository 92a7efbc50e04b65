import type { Dialect, LlmFormatName } from "../../../../runtime/llm/chat/formats.ts";
import type { KeyHeaderByPath, KeyHeaderName } from "../../../../runtime/llm/providers/provider.ts";
import type { AwsScope } from "../../../model/cloud-credentials.ts";
import type { Json } from "../../../model/json.ts";
import type { RouteType } from "../../../model/llm-policies.ts";
import { type Schema, shortText } from "../../../schema/schema.ts";

/** Schema of a provider's model. */
export const modelField = shortText(
  "Model for every request; by default the one that the request names.",
);

/** An LLM provider: its endpoints, options and credentials. */
export interface LlmProvider<Kind extends string, Value> {
  readonly kind: Kind;
  /** Aliases of its key in a file: the spellings of the reference. */
  readonly fileKeys: readonly string[];
  /** `gen_ai.provider.name` of the OpenTelemetry conventions. */
  readonly system: string;
  /** Returns another such name that its options determine; `undefined` if they do not. */
  readonly ownSystem?: (options: Value) => string | undefined;
  /** Schema of its options in a file, including the model. */
  readonly schema: Schema<Value>;
  /** Its options in manifests; absent if the same as in a file. */
  readonly kubernetes?: ManifestOptions<Value>;
  /** Returns its options for the parameters of a model of the `llm` section. */
  readonly ofModel: (params: ModelParams) => Value;
  /** Parameters that only its models have. */
  readonly ownParams?: readonly OwnParam[];
  /** Parameters of which its models require exactly one. */
  readonly neededParams?: readonly OwnParam[];
  /** Returns scheme and host of its own server; `undefined` if it has none. */
  readonly url: (options: Value) => string | undefined;
  /** Returns the path that its endpoints are below, which a base URL replaces; absent if they are below no path. */
  readonly basePath?: (options: Value) => string;
  /** Returns the fixed model; absent if that is `model` of its options. */
  readonly model?: (options: Value) => string | undefined;
  /**
   * Returns the endpoint for a route type; `undefined` if it does not support the type. `isOwnServer`: whether it is called at
   * its own server.
   */
  readonly endpoint: (
    type: RouteType,
    options: Value,
    isOwnServer: boolean,
  ) => LlmEndpoint | undefined;
  /** How credentials are sent. */
  readonly credential: LlmCredentialForm;
  /** Returns its AWS service, for which requests are signed if no other credentials are configured. */
  readonly aws?: (options: Value) => AwsScope;
  /** Whether requests carry a Google Cloud access token if no other credentials are configured. */
  readonly isGoogleCloud?: true;
  /** Runtime function that converts model names to those of its paths; absent if they are the same. */
  readonly modelName?: "vertexModel";
  /** Returns the guardrail that applies to every request. */
  readonly guardrail?: (options: Value) => Dialect["guardrail"];
  /** Returns fields of every chat request in the provider's format, which replace others. */
  readonly chatFields?: (options: Value) => Readonly<Record<string, Json>>;
  /** Returns the headers of every request, in lower case: a flat list. */
  readonly headers?: (options: Value) => readonly string[];
  /** Returns the region assumed if the options name none; absent if it has no regions or a global one. */
  readonly assumedRegion?: (options: Value) => string | undefined;
  /** Prefixes of its models' names; other names are reported. */
  readonly modelPrefixes?: readonly string[];
  /** Whether its models have the parameter `api`. */
  readonly takesApi?: true;
  /** Whether its servers only have the older fields of OpenAI's API. */
  readonly isCompatible?: true;
}

/** Parameters of a model of the `llm` section, for any provider. */
export interface ModelParams {
  readonly model?: string;
  /** API that is called for all clients. */
  readonly api?: "auto" | "responses" | "completions" | "messages";
  readonly awsRegion?: string;
  readonly azureApiVersion?: string;
  readonly azureHost?: string;
  readonly azureResourceName?: string;
  readonly azureProjectName?: string;
  readonly azureResourceType?: AzureResourceType;
  readonly vertexProject?: string;
  readonly vertexRegion?: string;
}

/** Type of a resource of Azure, in all spellings. */
export type AzureResourceType = "openAI" | "OpenAI" | "foundry" | "Foundry" | "aiServices";

/** A parameter of a single provider. */
export type OwnParam = Exclude<keyof ModelParams, "model" | "api">;

/** The options of a provider whose manifest form differs from its file form. */
export interface ManifestOptions<Value> {
  readonly schema: Schema;
  /** Converts a validated value to the file form. */
  readonly lower: (value: unknown) => Value;
}

/** An endpoint of a provider for one route type. */
export interface LlmEndpoint {
  /** API format of the endpoint. */
  readonly format: LlmFormatName;
  /** Request target in origin form, with `{model}` for the model. */
  readonly path: string;
  /** Whether the path is independent of a base URL. */
  readonly isFixed?: true;
  /** Path for streams, if different. */
  readonly streamPath?: string;
  /** Module for the provider's variant of the format; absent if it uses the format's own. */
  readonly variant?: "vertexMessages" | "vertexTokenCount" | "vertexContentTokenCount";
  /** Other endpoints for some models; absent if all are served here. */
  readonly branches?: readonly LlmBranch[];
}

/** An endpoint for some models. The first that matches is used. */
export interface LlmBranch extends LlmEndpoint {
  /** Regular expression for the names of the models. */
  readonly models: string;
  /** Runtime condition of the request; absent if all requests of the models are served here. */
  readonly when?: "reasonsWithTools" | "usesHostedTools";
}

/** Header that carries the key: `Authorization: Bearer`, one of its own, or one that depends on the path. */
export type LlmCredentialForm =
  | { readonly kind: "bearer" }
  | { readonly kind: "header"; readonly header: Exclude<KeyHeaderName, "authorization"> }
  | { readonly kind: "by-path"; readonly header: KeyHeaderByPath };

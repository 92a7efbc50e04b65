import type { Dialect, LlmFormatName } from "../../../../runtime/llm/chat/formats.ts";
import type { KeyHeaderByPath, KeyHeaderName } from "../../../../runtime/llm/providers/provider.ts";
import type { AwsScope } from "../../../model/cloud-credentials.ts";
import type { RouteType } from "../../../model/llm-policies.ts";
import type { Schema } from "../../../schema/schema.ts";

/** What a provider of models is: where it serves what, and how it is asked. */
export interface LlmProvider<Kind extends string, Value> {
  readonly kind: Kind;
  /** Its key in a file besides `kind`: as the reference spells it. */
  readonly fileKeys: readonly string[];
  /** `gen_ai.provider.name` of the OpenTelemetry conventions. */
  readonly system: string;
  /** Its options in a file; the model among them. */
  readonly schema: Schema<Value>;
  /** Its options in manifests; absent: as in a file. */
  readonly kubernetes?: ManifestOptions<Value>;
  /** Its options as the parameters of a model of the front door. */
  readonly ofModel: (params: ModelParams) => Value;
  /** The parameters that only its models have. */
  readonly ownParams?: readonly OwnParam[];
  /** Of these a model has exactly one. */
  readonly neededParams?: readonly OwnParam[];
  /** Scheme and host of its own server. */
  readonly url: (options: Value) => string;
  /** The model of every request; absent: `model` of its options. */
  readonly model?: (options: Value) => string | undefined;
  /** How it serves a route type; undefined: it does not. */
  readonly endpoint: (type: RouteType, options: Value) => LlmEndpoint | undefined;
  /** How credentials are shown. */
  readonly credential: LlmCredentialForm;
  /** The service of AWS that it is: without other credentials its requests are signed. */
  readonly aws?: (options: Value) => AwsScope;
  /** Without other credentials it is shown an access token of Google Cloud. */
  readonly isGoogleCloud?: true;
  /** The function of the runtime that gives models the names that its paths have; absent: they have them. */
  readonly modelName?: "vertexModel";
  /** The guardrail that every request passes. */
  readonly guardrail?: (options: Value) => Dialect["guardrail"];
  /** Headers that every request has, in lower case: a flat list. */
  readonly headers?: (options: Value) => readonly string[];
  /** The region that is asked where the options name none; absent: it has none, or one that is everywhere. */
  readonly assumedRegion?: (options: Value) => string | undefined;
  /** What the names of its models begin with; another name is reported. */
  readonly modelPrefixes?: readonly string[];
}

/** What a model of the front door says of its provider, whichever that is. */
export interface ModelParams {
  readonly model?: string;
  readonly awsRegion?: string;
  readonly azureApiVersion?: string;
  readonly azureHost?: string;
  readonly azureResourceName?: string;
  readonly vertexProject?: string;
  readonly vertexRegion?: string;
}

/** A parameter that belongs to one provider. */
export type OwnParam = Exclude<keyof ModelParams, "model">;

/** The options of a provider where manifests have others than files. */
export interface ManifestOptions<Value> {
  readonly schema: Schema;
  /** As in a file; what the schema has let through. */
  readonly lower: (value: unknown) => Value;
}

/** How a provider serves one route type. */
export interface LlmEndpoint {
  /** What is spoken there. */
  readonly format: LlmFormatName;
  /** Request target in origin form, with `{model}` for the model. */
  readonly path: string;
  /** Where streams are asked for, when that is elsewhere. */
  readonly streamPath?: string;
  /** The module that speaks the format in the provider's own way; absent: that of the format. */
  readonly variant?: "vertexMessages" | "vertexTokenCount";
  /** Where models are served whose names begin with a prefix; absent: all are served here. */
  readonly branches?: readonly (LlmEndpoint & { readonly prefix: string })[];
}

/** Where a key goes: a header of its own, `Authorization: Bearer`, or what the path says. */
export type LlmCredentialForm =
  | { readonly kind: "bearer" }
  | { readonly kind: "header"; readonly header: Exclude<KeyHeaderName, "authorization"> }
  | { readonly kind: "by-path"; readonly header: KeyHeaderByPath };

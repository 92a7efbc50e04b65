import type { TextPart } from "../../../runtime/llm/chat/whole-texts.ts";
import type { Expression } from "../../../templates/code/hole.ts";
import { addProblems } from "../../cel/parse/problems.ts";
import { compileConstantPattern } from "../../cel/regex/pattern.ts";
import { keyPlace } from "../../diagnostics/diagnostic.ts";
import type { AwsScope, CloudAuthConfig } from "../../model/cloud-credentials.ts";
import { forwardUrl, secureUrl } from "../../model/host-url.ts";
import type { ValueMatchConfig } from "../../model/matches.ts";
import type {
  AzureGuardConfig,
  BedrockGuardConfig,
  ModelArmorGuardConfig,
  ModerationGuardConfig,
  RejectionConfig,
  ServerGuardConfig,
  WebhookGuardConfig,
} from "../../model/prompt-guards.ts";
import type { ServerPolicies } from "../../model/server-policies.ts";
import type { MountedFile, Text } from "../../model/texts.ts";
import { AMBIENT_AWS, AMBIENT_GCP, ambientAzure } from "../parts/ambient-credentials.ts";
import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import { resolveTarget } from "../parts/callout-server.ts";
import { type CalloutTarget, calloutTarget } from "../parts/callout-target.ts";
import { backendKey, resolveConnection, withAmbient } from "../parts/connection.ts";
import type { DestinationContext } from "../parts/destination.ts";
import { checkHeaderName } from "../parts/header-fields.ts";
import { type NamedNode, resolveExpressions } from "../parts/named-expressions.ts";

/** A guard that calls a server, complete. */
export type ServerGuardNode =
  | WebhookGuardNode
  | ModerationGuardNode
  | BedrockGuardNode
  | ModelArmorGuardNode
  | AzureGuardNode;

/** Common fields of guards that call a server. */
interface AskingGuardNode {
  readonly target: CalloutTarget;
  /** Parts of requests that it scans; `undefined` for all. */
  readonly scope: readonly TextPart[] | undefined;
  /** Number of characters of a stream that are sent to it at a time. */
  readonly window: number;
  readonly passesOnFailure: boolean;
  readonly rejection: RejectionConfig;
}

/** A webhook. */
export interface WebhookGuardNode extends AskingGuardNode {
  readonly kind: "webhook";
  readonly forwardHeaders: readonly ForwardedHeader[];
  /** Headers computed by expressions, by lower-case names, and `:path`. */
  readonly headers: readonly NamedNode[];
}

/**
 * A header, in lower case, that is forwarded to a webhook if its value matches. The expression reads the local
 * variable `value`.
 */
export interface ForwardedHeader {
  readonly name: string;
  readonly value: string | Expression;
}

/** OpenAI's moderation API. */
export interface ModerationGuardNode extends AskingGuardNode, Pick<ModerationGuardConfig, "model"> {
  readonly kind: "openAIModeration";
}

/** An Amazon Bedrock guardrail. */
export interface BedrockGuardNode
  extends AskingGuardNode,
    Pick<BedrockGuardConfig, "identifier" | "version"> {
  readonly kind: "bedrockGuardrails";
}

/** A Google Model Armor template. */
export interface ModelArmorGuardNode
  extends AskingGuardNode,
    Pick<ModelArmorGuardConfig, "template" | "project" | "location"> {
  readonly kind: "googleModelArmor";
}

/** An Azure AI Content Safety resource. */
export interface AzureGuardNode
  extends AskingGuardNode,
    Pick<AzureGuardConfig, "analysis" | "shieldVersion"> {
  readonly kind: "azureContentSafety";
  /** API key, sent in its own header; `undefined` if a token is used. */
  readonly key: Text | MountedFile | undefined;
}

/** Place of a guard that calls a server. */
export interface GuardPlace {
  /** Characters of a stream that are held back. */
  readonly window: number;
  /** Phase of the expressions for headers of webhooks: `llm` reads the request to a model. */
  readonly phase: "llm" | "request";
}

/** Resolves a guard that calls a server; returns `undefined` if a mistake was reported. */
export function resolveServerGuard(
  guard: ServerGuardConfig,
  { window, phase }: GuardPlace,
  context: BackendResolveContext,
): ServerGuardNode | undefined {
  const { passesOnFailure, rejection } = guard;
  const common = { scope: guard.scope?.parts, window, passesOnFailure, rejection };
  switch (guard.kind) {
    case "webhook":
      return resolveWebhook(guard, { common, phase }, context);
    case "openAIModeration": {
      if (guard.host === undefined) requireKey(guard, context);
      const target = serviceTarget(guard, { url: "https://api.openai.com" }, context);
      return target && { kind: guard.kind, model: guard.model, target, ...common };
    }
    case "bedrockGuardrails": {
      const { identifier, version, region } = guard;
      const url = `https://bedrock-runtime.${region}.amazonaws.com`;
      const service = { url, auth: AMBIENT_AWS, aws: { region, service: "bedrock" } };
      const target = serviceTarget(guard, service, context);
      return target && { kind: guard.kind, identifier, version, target, ...common };
    }
    case "googleModelArmor": {
      const { template, project, location } = guard;
      const url = `https://modelarmor.${location}.rep.googleapis.com`;
      const target = serviceTarget(guard, { url, auth: AMBIENT_GCP }, context);
      return target && { kind: guard.kind, template, project, location, target, ...common };
    }
    case "azureContentSafety": {
      const { analysis, shieldVersion, policies: { auth, ...others } = {} } = guard;
      const key = backendKey(auth, context);
      const rest = auth && { auth: { ...auth, kind: "onlyMore" } as const };
      const policies = key === undefined ? guard.policies : { ...others, ...rest };
      const service = { url: "", ...(key === undefined && azureToken(guard.host)) };
      const target = serviceTarget({ ...guard, policies }, service, context);
      return target && { kind: guard.kind, analysis, shieldVersion, key, target, ...common };
    }
  }
}

/** Reports a missing key, without which OpenAI refuses every call. */
function requireKey(
  { policies, origin }: ModerationGuardConfig,
  { diagnostics }: DestinationContext,
): void {
  if (policies?.auth !== undefined) return;
  diagnostics.report("moderation-without-key", keyPlace(origin), {});
}

/** Returns the ambient credentials for a resource in one of Azure's clouds; other servers may need none. */
function azureToken(host: Text | undefined): Pick<KnownService, "auth"> | undefined {
  const [, cloud] = typeof host === "string" ? (/\.azure\.(com|us|cn)\/*$/i.exec(host) ?? []) : [];
  return cloud === undefined ? undefined : { auth: ambientAzure(cloud.toLowerCase()) };
}

function resolveWebhook(
  { server, forwardHeaders, headers: made }: WebhookGuardConfig,
  {
    common,
    phase,
  }: Pick<GuardPlace, "phase"> & { readonly common: Omit<AskingGuardNode, "target"> },
  context: BackendResolveContext,
): WebhookGuardNode | undefined {
  const target = resolveTarget(server, context);
  const headers = forwardHeaders.flatMap((each) => resolveHeader(each, context) ?? []);
  const areNames = made.map(
    ({ name, origin: at }) => name === ":path" || checkHeaderName(name, at, context),
  );
  const values = resolveExpressions(
    made.map((each) => ({ ...each, name: each.name.toLowerCase() })),
    phase,
    context,
  );
  if (target === undefined || values === undefined || areNames.includes(false)) return undefined;
  if (headers.length < forwardHeaders.length) return undefined;
  return { kind: "webhook", target, forwardHeaders: headers, headers: values, ...common };
}

function resolveHeader(
  { name, kind, value, origin }: ValueMatchConfig,
  { diagnostics }: DestinationContext,
): ForwardedHeader | undefined {
  if (kind === "exact") return { name, value };
  const { code, problems } = compileConstantPattern(value, { subject: "value", match: "full" });
  addProblems(problems, origin, diagnostics);
  return code && { name, value: code };
}

/** A well-known service. */
interface KnownService {
  /** URL of its own server. */
  readonly url: string;
  /** Credentials that are used if none are configured; absent if none. */
  readonly auth?: CloudAuthConfig;
  readonly aws?: AwsScope;
}

function serviceTarget(
  { host, hostOrigin, policies = {}, origin }: Exclude<ServerGuardConfig, WebhookGuardConfig>,
  { url: own, auth: ambient, aws }: KnownService,
  context: BackendResolveContext,
): CalloutTarget | undefined {
  const url = host === undefined ? own : forwardUrl(host, hostOrigin, context.diagnostics);
  const auth = withAmbient(policies.auth, ambient, origin);
  const all: ServerPolicies = { ...policies, ...(auth && { auth }) };
  const connection = resolveConnection(all, context, aws);
  return url === undefined
    ? undefined
    : calloutTarget({ url: secureUrl(url, connection), connection });
}

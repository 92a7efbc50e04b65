import type { IdentityFields } from "../backends/parts/known-identities.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Infer } from "../schema/schema.ts";
import { a2a } from "./a2a.ts";
import { apiKey } from "./api-key.ts";
import { authorization } from "./authorization.ts";
import { basicAuth } from "./basic-auth.ts";
import { buffer } from "./buffer.ts";
import { cors } from "./cors.ts";
import { csrf } from "./csrf.ts";
import { customPolicies } from "./custom.ts";
import { delay } from "./delay.ts";
import { directResponse } from "./direct-response.ts";
import { extAuthz } from "./ext-authz.ts";
import { extProc } from "./ext-proc.ts";
import { hostRewrite } from "./host-rewrite.ts";
import { jwtAuth } from "./jwt-auth.ts";
import { localRateLimit } from "./local-rate-limit.ts";
import { mcpAuthentication } from "./mcp-authentication.ts";
import { mcpAuthorization } from "./mcp-authorization.ts";
import { mcpGuardrails } from "./mcp-guardrails.ts";
import { mcpGuards } from "./mcp-guards.ts";
import { oidc } from "./oidc.ts";
import type { Policy } from "./policy.ts";
import { publishedKeys } from "./public-keys.ts";
import { remoteRateLimit } from "./remote-rate-limit.ts";
import { requestHeaderModifier } from "./request-header-modifier.ts";
import { requestMirror } from "./request-mirror.ts";
import { requestRedirect } from "./request-redirect.ts";
import { responseHeaderModifier } from "./response-header-modifier.ts";
import { retry } from "./retry.ts";
import { sessionAffinity } from "./session-affinity.ts";
import { sessionPersistence } from "./session-persistence.ts";
import { timeout } from "./timeout.ts";
import { transformations } from "./transformations.ts";
import { urlRewrite } from "./url-rewrite.ts";
import { userConnections } from "./user-connections.ts";

/** Every policy. Their order here is the order in which they handle a request. */
const units = {
  cors,
  oidc,
  mcpAuthentication,
  jwtAuth,
  basicAuth,
  apiKey,
  custom: customPolicies,
  extAuthz,
  authorization,
  mcpAuthorization,
  localRateLimit,
  remoteRateLimit,
  buffer,
  extProc,
  transformations,
  csrf,
  requestHeaderModifier,
  responseHeaderModifier,
  hostRewrite,
  urlRewrite,
  requestRedirect,
  delay,
  directResponse,
  publicKeys: publishedKeys,
  userConnections,
  a2a,
  mcpGuards,
  mcpGuardrails,
  requestMirror,
  sessionPersistence,
  sessionAffinity,
  timeout,
  retry,
};

/** The name of a policy in the configuration. */
export type PolicyKind = keyof typeof units;

/** Canonical configuration of each policy, by kind. */
export type PolicyConfigs = {
  readonly [Kind in PolicyKind]: Parameters<(typeof units)[Kind]["lowering"]["resolve"]>[0];
};

/** Result of each policy's `resolve`, which its template receives, by kind. */
export type PolicySettings = {
  readonly [Kind in PolicyKind]: NonNullable<
    ReturnType<(typeof units)[Kind]["lowering"]["resolve"]>
  >;
};

/** Value of each policy in a file, by kind. */
export type PolicyValues = {
  readonly [Kind in PolicyKind]: Infer<(typeof units)[Kind]["schema"]>;
};

/** Value of each policy in manifests, by kind. */
export type KubernetesValues = {
  readonly [Kind in PolicyKind]: Infer<NonNullable<(typeof units)[Kind]["kubernetes"]>["schema"]>;
};

/** A policy with its canonical configuration. */
export type PolicyConfig<Kind extends PolicyKind = PolicyKind> = {
  [Each in Kind]: {
    readonly kind: Each;
    readonly config: PolicyConfigs[Each];
    readonly origin: Origin;
  };
}[Kind];

/** The policies by kind, with a common type that code over all kinds can use. */
type Policies = {
  readonly [Kind in PolicyKind]: Policy<
    Kind,
    PolicyConfigs[Kind],
    PolicySettings[Kind],
    PolicyValues[Kind],
    KubernetesValues[Kind]
  >;
};

/** Any policy. */
export type AnyPolicy = Policies[PolicyKind];

const byKind: Policies = units;

/** Every policy, in request order. */
export const policies: readonly AnyPolicy[] = Object.values(byKind);

/** Policies that set each CEL variable, as an identity or otherwise, sorted by name for messages. */
export const identities: ReadonlyMap<string, readonly PolicyKind[]> = new Map(
  [...Map.groupBy(policies, ({ access, traits }) => access?.identity ?? traits.variable)].flatMap(
    ([variable, found]) =>
      variable === undefined ? [] : [[variable, found.map(({ kind }) => kind).toSorted()] as const],
  ),
);

/** Returns the policy of a kind. */
export function policyOf<Kind extends PolicyKind>(kind: Kind): Policies[Kind] {
  return byKind[kind];
}

/** Returns the canonical configuration of a policy. */
export function policyConfig<Kind extends PolicyKind>(
  kind: Kind,
  config: PolicyConfigs[Kind],
  origin: Origin,
): PolicyConfig<Kind> {
  return { kind, config, origin };
}

/** Returns the first policy of a kind; `undefined` if no policy has it. */
export function policyOfKind<Kind extends PolicyKind>(
  all: readonly PolicyConfig[],
  kind: Kind,
): PolicyConfig<Kind> | undefined {
  for (const each of all) if (isOfKind(each, kind)) return each;
  return undefined;
}

function isOfKind<Kind extends PolicyKind>(
  policy: { readonly kind: PolicyKind },
  kind: Kind,
): policy is PolicyConfig<Kind> {
  return policy.kind === kind;
}

/** Returns the identity that a policy establishes and its known fields; `undefined` if it establishes none. */
export function identityFields<Kind extends PolicyKind>({
  kind,
  config,
}: PolicyConfig<Kind>): IdentityFields | undefined {
  const { identity, identityFields: fields } = policyOf(kind).access ?? {};
  return identity === undefined ? undefined : { variable: identity, fields: fields?.(config) };
}

/** Whether a policy establishes an identity but lets requests without it pass. */
export function passesAnonymous<Kind extends PolicyKind>({
  kind,
  config,
}: PolicyConfig<Kind>): boolean {
  return policyOf(kind).access?.passesAnonymous?.(config) === true;
}

/** Whether a policy limits the tokens that LLM requests use. */
export function limitsTokens<Kind extends PolicyKind>({
  kind,
  config,
}: PolicyConfig<Kind>): boolean {
  return policyOf(kind).traits.limitsTokens?.(config) === true;
}

/** Whether a policy responds to every request that reaches it. */
export function respondsToAll<Kind extends PolicyKind>({
  kind,
  config,
}: PolicyConfig<Kind>): boolean {
  return policyOf(kind).traits.isTerminal?.(config) === true;
}

/** Kinds of policies that never respond to every request, whatever their configuration. */
export const silentPolicies: readonly PolicyKind[] = policies
  .filter(({ traits }) => traits.isTerminal === undefined)
  .map(({ kind }) => kind);

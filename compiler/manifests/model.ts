import { choice, type Fields, object, type Schema, type ValueCheck } from "../schema/schema.ts";
import { resource } from "./field-types.ts";
import type { PolicyFields } from "./policy.ts";
import { parentReferences } from "./routes.ts";

/** Fields that say which models are served, by which provider, and where. */
export interface ModelFields {
  /** Name that clients use. */
  readonly model: Schema<string>;
  readonly provider: Schema<string>;
  readonly baseURL: Schema<string>;
  /** APIs that it serves besides those of chats and embeddings. */
  readonly apis: Schema<readonly string[]>;
  /** Settings of single providers, by their fields. */
  readonly settings: Fields;
  readonly virtualModel: Schema<VirtualModelSpec>;
  readonly checks: readonly ValueCheck[];
}

/** Schema of GatewayModel: a model of a provider, or a virtual model that stands for others. */
export function gatewayModelSchema(
  { model, provider, baseURL, apis, settings, virtualModel, checks }: ModelFields,
  policies: Schema<PolicyFields>,
) {
  return resource(
    object(
      {
        parentRefs: parentReferences(
          16,
          "Gateways or ListenerSets whose listeners serve the model, or HTTPRoutes with a rule for models.",
        ),
        match: object({ model }, { description: "Requests for the model." }),
        visibility: choice(
          "Whether clients can request the model (`Public`), or only virtual models use it (`Internal`).",
          ["Public", "Internal"],
          { default: "Public" },
        ),
        provider,
        baseURL,
        apis,
        ...settings,
        policies,
        virtualModel,
      },
      {
        required: ["parentRefs"],
        exactlyOneOf: ["provider", "virtualModel"],
        checks: [...VIRTUAL_CHECKS, ...checks],
        hasParts: true,
        examples: [
          {
            parentRefs: [{ name: "shop", sectionName: "llm" }],
            match: { model: "gpt-5-*" },
            provider: "OpenAI",
            policies: { auth: { secretRef: { name: "openai" } } },
          },
        ],
      },
    ),
  );
}

/** A virtual model of manifests. */
export interface VirtualModelSpec {
  readonly weighted?: ModelTargets<{ readonly weight?: number }>;
  readonly failover?: ModelTargets<{ readonly priority: number }>;
  readonly conditional?: ModelTargets<{ readonly when?: string }>;
}

interface ModelTargets<More> {
  readonly targets: readonly (ModelTargetSpec & More)[];
}

/** A target of a virtual model. */
export interface ModelTargetSpec {
  readonly modelRef: { readonly name: string };
  readonly model?: string;
}

const VIRTUAL_CHECKS: readonly ValueCheck[] = [
  {
    message: 'a virtual model has no "policies": its models have them',
    field: "policies",
    holds: ({ virtualModel, policies }) => virtualModel === undefined || policies === undefined,
    cel: "!has(self.virtualModel) || !has(self.policies)",
  },
  {
    message: "a virtual model must be public",
    field: "visibility",
    holds: ({ virtualModel, visibility }) =>
      virtualModel === undefined || visibility !== "Internal",
    cel: "!has(self.virtualModel) || !has(self.visibility) || self.visibility != 'Internal'",
  },
  {
    message: 'a virtual model must have an exact name, without "*"',
    field: "match",
    holds: ({ virtualModel, match }) =>
      virtualModel === undefined || !JSON.stringify(match ?? {}).includes("*"),
    cel: "!has(self.virtualModel) || !has(self.match) || !has(self.match.model) || !self.match.model.contains('*')",
  },
];

import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { localObject } from "../manifests/field-types.ts";
import { listChanges } from "../model/access.ts";
import type { Json } from "../model/json.ts";
import { withoutLiteral } from "../model/literal-secrets.ts";
import type { Text } from "../model/texts.ts";
import {
  anyText,
  type Infer,
  json,
  list,
  map,
  object,
  text,
  unsupported,
} from "../schema/schema.ts";
import { identityMode, type JwtMode, kubernetesMode, modeSchema } from "./jwt-auth.ts";
import {
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  defaultLocation,
  lowerCredentialLocation,
  resolveCredentialLocation,
} from "./parts/credential-location.ts";
import { identityCheck, modeChange } from "./parts/identity-access.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** A key: from the environment, by its digest, or in a file that is read where the gateway runs. */
export type ApiKeySourceNode = { readonly metadata: Readonly<Record<string, Json>> } & (
  | { readonly kind: "key"; readonly key: Text; readonly origin: Origin }
  | { readonly kind: "hash"; readonly sha256: string }
  | { readonly kind: "file"; readonly file: string; readonly isSecret?: boolean }
);

interface ApiKeyConfig<Place> {
  readonly mode: JwtMode;
  readonly location: Place;
  readonly keys: readonly ApiKeySourceNode[];
}

const keySchema = object(
  {
    key: text("The key, as `${NAME}`: it is read when the gateway starts.", {
      maxLength: 1024,
      readAtStart: true,
      secret: true,
    }),
    keyHash: text("Its digest: `sha256:` and 64 hexadecimal digits.", {
      pattern: "^sha256:[0-9a-fA-F]{64}$",
      form: '"sha256:" and 64 hexadecimal digits',
      examples: [`sha256:${"0".repeat(64)}`],
    }),
    file: text(
      "Path of a file with the key, or with `{key, metadata}` as JSON; read where the gateway runs, and again when it changes.",
      { maxLength: 1024 },
    ),
    metadata: map(json, {
      maxProperties: 64,
      description: "What is known of the key's holder: `apiKey` in rules.",
    }),
    allowedModels: unsupported("models by API key"),
  },
  { exactlyOneOf: ["key", "keyHash", "file"] },
);

const schema = object(
  {
    mode: modeSchema,
    keys: list(keySchema, { minItems: 1, maxItems: 4096, description: "The keys." }),
    location: credentialLocationSchema("Bearer"),
  },
  { required: ["keys"], description: "Requires, or accepts, an API key." },
);

const kubernetesSchema = object(
  {
    mode: identityMode,
    secretRef: localObject("A Secret whose entries are API keys."),
    secretSelector: object(
      {
        matchLabels: map(anyText({ maxLength: 63 }), {
          description: "Labels, each with the value that it must have.",
        }),
      },
      {
        required: ["matchLabels"],
        description: "Secrets of the namespace, by their labels, whose entries are API keys.",
      },
    ),
  },
  { exactlyOneOf: ["secretRef", "secretSelector"] },
);

/** Verified identity from a key that the client sends. */
export const apiKey: Policy<
  "apiKey",
  ApiKeyConfig<CredentialLocationConfig>,
  ApiKeyConfig<CredentialLocationNode>,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "apiKey",
  summary: "checks an API key against SHA-256 digests; its metadata is `apiKey` in rules",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema,
  aliases: [["apiKeyAuthentication"]],
  names: ["apiKeys", "findApiKey"],
  identity: "apiKey",
  passesAnonymous: ({ mode }) => mode !== "strict",
  direction: "closes",
  access: ({ mode }) => [identityCheck("apiKey", mode, "an API key")],
  compare: (before, after) => [
    ...modeChange(before.mode, after.mode),
    ...listChanges("key", before.keys.map(keyName), after.keys.map(keyName), "opens"),
  ],
  merge: "replace",
  lower: (given, origin) => {
    return {
      mode: given.mode ?? "strict",
      location: lowerCredentialLocation(given.location, "Bearer", childOf(origin, "location")),
      keys: given.keys.map((each, index) => lowerKey(each, childOf(origin, "keys", index))),
    };
  },
  kubernetes: {
    field: "traffic.apiKeyAuthentication",
    schema: kubernetesSchema,
    lower: (given, { origin, diagnostics, secretFiles, secretsWith }) => {
      const { secretRef, secretSelector } = given;
      const names =
        secretSelector === undefined
          ? [secretRef?.name ?? ""]
          : secretsWith(secretSelector.matchLabels);
      const at = childOf(origin, secretRef === undefined ? "secretSelector" : "secretRef");
      if (names.length === 0)
        diagnostics.report("selector-without-match", at, { what: "Secret of the namespace" });
      const files = names.flatMap((name) => secretFiles(name, undefined, at));
      return {
        mode: kubernetesMode(given.mode),
        location: defaultLocation("Bearer"),
        keys: files.map((file) => ({ kind: "file", file, isSecret: true, metadata: {} })),
      };
    },
  },
  resolve: (config, context) => {
    const keys = config.keys.map((source) => withoutLiteralKey(source, context));
    const location = resolveCredentialLocation(config.location, context);
    return location && { ...config, keys, location };
  },
};

/** What a key is called where it is not to be seen: by the start of its digest, its file, or its variable. */
function keyName(source: ApiKeySourceNode): string {
  switch (source.kind) {
    case "hash":
      return `sha256:${source.sha256.slice(0, 8)}`;
    case "file":
      return source.file;
    case "key":
      return JSON.stringify(source.key);
  }
}

function withoutLiteralKey(source: ApiKeySourceNode, context: ResolveContext): ApiKeySourceNode {
  if (source.kind !== "key") return source;
  const key = withoutLiteral(source.key, source.origin, { field: '"key"' }, context);
  return { ...source, key };
}

function lowerKey(given: Infer<typeof keySchema>, origin: Origin): ApiKeySourceNode {
  const metadata = given.metadata ?? {};
  if (given.key !== undefined)
    return { kind: "key", key: given.key, metadata, origin: childOf(origin, "key") };
  if (given.file !== undefined) return { kind: "file", file: given.file, metadata };
  const sha256 = (given.keyHash ?? "").slice("sha256:".length).toLowerCase();
  return { kind: "hash", sha256, metadata };
}

import { readApiKeyEntry } from "../../runtime/contents/api-key-entry.ts";
import { MODEL_PATTERN, mayMeanSame } from "../backends/ai/model-pattern.ts";
import { readWhatIsHere } from "../backends/parts/tls-files.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { localObject } from "../manifests/field-types.ts";
import { listChanges, type SettingsChange } from "../model/access.ts";
import type { Json } from "../model/json.ts";
import { withoutLiteral } from "../model/literal-secrets.ts";
import { shownText, type Text } from "../model/texts.ts";
import { anyText, boolean, type Infer, json, list, map, object, text } from "../schema/schema.ts";
import { bothForms, fileWord } from "../schema/two-forms.ts";
import { credentialMode, type JwtMode, tokenMode } from "./jwt-auth.ts";
import {
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  lowerCredentialLocation,
  proxyLocation,
  resolveCredentialLocation,
} from "./parts/credential-location.ts";
import { identityCheck, modeChange } from "./parts/identity-access.ts";
import type { KubernetesContext, Policy, ResolveContext } from "./policy.ts";

/** API keys: a value from the environment, a digest, a file that the running gateway reads, or all entries of a Secret. */
export type ApiKeySourceNode = {
  readonly metadata: Readonly<Record<string, Json>>;
  /** Models that the key may be used for; `undefined` if any. */
  readonly allowedModels?: readonly string[];
  readonly origin: Origin;
} & (
  | { readonly kind: "key"; readonly key: Text }
  | { readonly kind: "hash"; readonly sha256: string }
  | { readonly kind: "file"; readonly file: string }
  /** `file` is the mounted folder of the Secret. */
  | { readonly kind: "secret"; readonly file: string }
);

interface ApiKeyConfig<Place> {
  /** Whether keys that are made at run time are valid as well. */
  readonly isStored: boolean;
  readonly mode: JwtMode;
  readonly location: Place;
  readonly keys: readonly ApiKeySourceNode[];
}

const keySchema = object(
  {
    key: text("The key as `${NAME}`, read from the environment when the gateway starts.", {
      maxLength: 1024,
      readAtStart: true,
      secret: true,
    }),
    keyHash: text("The key's digest: `sha256:` and 64 hexadecimal digits.", {
      pattern: "^sha256:[0-9a-fA-F]{64}$",
      form: '"sha256:" and 64 hexadecimal digits',
      examples: [`sha256:${"0".repeat(64)}`],
    }),
    file: text(
      "Path of a file, on the gateway's host, with the key or with `{key or keyHash, metadata, allowedModels}` as JSON. Read again whenever it changes.",
      { maxLength: 1024 },
    ),
    metadata: map(json, {
      maxProperties: 64,
      description: "Attributes of the key's holder, available to rules as `apiKey`.",
    }),
    allowedModels: list(text("A model, by the name that clients use.", MODEL_PATTERN), {
      minItems: 1,
      maxItems: 256,
      uniqueItems: true,
      description:
        "Models that the key may be used for; all by default. With a list, the key cannot call `Passthrough` routes, whose requests are not parsed.",
    }),
  },
  {
    exactlyOneOf: ["key", "keyHash", "file"],
    misplacedFieldHints: Object.fromEntries(
      ["name", "user", "owner", "role", "team", "group", "id"].map((word) => [
        word,
        `put attributes of its holder under metadata: { ${word}: VALUE }; rules read apiKey.${word}`,
      ]),
    ),
  },
);

const storedKeys = bothForms(
  boolean(
    "Whether keys that `gwc keys create` made are accepted too, of the store of the gateway: see `config.store`.",
  ),
  { file: { default: false }, manifest: {} },
);

const schema = object(
  {
    mode: tokenMode.file,
    keys: list(keySchema, { minItems: 1, maxItems: 4096, description: "Accepted keys." }),
    store: storedKeys.file,
    location: credentialLocationSchema("Bearer"),
  },
  {
    atLeastOneOf: ["keys", "store"],
    description: "Requires an API key, or verifies one if it is sent (`mode`).",
  },
);

const kubernetesSchema = object(
  {
    mode: credentialMode,
    location: credentialLocationSchema("Bearer"),
    secretRef: localObject(
      "Secret",
      "A Secret whose entries are API keys: either the plain key or `{key or keyHash, metadata, allowedModels}` as JSON.",
    ),
    secretSelector: labelsSchema(
      "Selects by label the Secrets of the namespace whose entries are API keys.",
    ),
    store: storedKeys.manifest,
    configMapSelector: labelsSchema(
      "Selects by label the ConfigMaps of the namespace whose entries are API keys: `{keyHash, metadata, allowedModels}` as JSON, never the key itself.",
    ),
  },
  {
    atLeastOneOf: ["secretRef", "secretSelector", "configMapSelector", "store"],
    atMostOneOf: ["secretRef", "secretSelector", "configMapSelector"],
  },
);

function labelsSchema(description: string) {
  const matchLabels = map(anyText({ maxLength: 63 }), {
    description: "Required labels and their values.",
  });
  return object({ matchLabels }, { required: ["matchLabels"], description });
}

/** Authenticates clients by an API key. */
export const apiKey: Policy<
  "apiKey",
  ApiKeyConfig<CredentialLocationConfig>,
  ApiKeyConfig<CredentialLocationNode>,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "apiKey",
  summary:
    "authenticates clients by API key (compared as SHA-256 digests); rules read the key's metadata as `apiKey`",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
    usesStore: ({ isStored }) => (isStored ? "records" : undefined),
    // Keys of the store may have budgets.
    countsCosts: ({ isStored }) => isStored,
  },
  schema,
  aliases: [["apiKeyAuthentication"]],
  names: ["apiKeys", "findApiKey"],
  access: {
    identity: "apiKey",
    identityFields: ({ keys, isStored }) =>
      // The contents of files, Secrets and the store are unknown until the gateway runs.
      isStored || keys.some(({ kind }) => kind === "file" || kind === "secret")
        ? undefined
        : keys.flatMap(({ metadata }) => Object.keys(metadata)),
    passesAnonymous: ({ mode }) => mode !== "strict",
    credential: ({ mode, location }) => ({ kind: "key", mode, location }),
    direction: "closes",
    checks: ({ mode, isStored, keys }) => [
      identityCheck("apiKey", mode, isStored ? storedProof(keys.length > 0) : "an API key"),
    ],
    compare: {
      changes: (before, after) => [
        ...modeChange(before.mode, after.mode),
        ...storeChange(before.isStored, after.isStored),
        ...listChanges("key", before.keys.map(keyName), after.keys.map(keyName), "opens"),
        ...before.keys.flatMap((key) => holderChanges(key, after.keys)),
      ],
      rest: ({ location }) => ({ location }),
    },
  },
  lowering: {
    merge: "replace",
    forProxy: (config) => ({ ...config, location: proxyLocation(config.location) }),
    lower: (given, origin) => {
      return {
        mode: given.mode ?? "strict",
        location: lowerCredentialLocation(given.location, "Bearer", childOf(origin, "location")),
        isStored: given.store === true,
        keys: (given.keys ?? []).map((each, index) =>
          lowerKey(each, childOf(origin, "keys", index)),
        ),
      };
    },
    resolve: (config, context) => {
      reportRepeatedKeys(config.keys, context);
      const keys = config.keys.map((source) => withoutLiteralKey(source, context));
      for (const key of keys) {
        meetModels(key, context);
        if (key.kind === "file") readWhatIsHere(key.file, childOf(key.origin, "file"), context);
      }
      const location = resolveCredentialLocation(config.location, context);
      return location && { ...config, keys, location };
    },
  },
  kubernetes: {
    field: "traffic.apiKeyAuthentication",
    schema: kubernetesSchema,
    lower: (given, context) => ({
      mode: fileWord(given.mode ?? "Strict"),
      location: lowerCredentialLocation(
        given.location,
        "Bearer",
        childOf(context.origin, "location"),
      ),
      isStored: given.store === true,
      keys: keysOfObjects(given, context),
    }),
  },
};

function keysOfObjects(
  given: Infer<typeof kubernetesSchema>,
  context: KubernetesContext,
): readonly ApiKeySourceNode[] {
  const { secretRef, secretSelector, configMapSelector } = given;
  if (configMapSelector !== undefined)
    return keysOfConfigMaps(configMapSelector.matchLabels, context);
  return secretRef === undefined && secretSelector === undefined
    ? []
    : keysOfSecrets(given, context);
}

function storedProof(hasOthers: boolean): string {
  return hasOthers ? "a configured or stored API key" : "a stored API key";
}

/** Reports that holders of keys which are made at run time get in from now on, or no longer. */
function storeChange(was: boolean, is: boolean): readonly SettingsChange[] {
  if (was === is) return [];
  return is
    ? [{ direction: "opens", text: "holders of a stored key" }]
    : [{ direction: "closes", text: "no stored keys" }];
}

function keysOfSecrets(
  { secretRef, secretSelector }: Infer<typeof kubernetesSchema>,
  { origin, diagnostics, keyFolders, objectsWith }: KubernetesContext,
): readonly ApiKeySourceNode[] {
  const found = secretSelector && objectsWith("Secret", secretSelector.matchLabels);
  const names = found?.map(({ name }) => name) ?? [secretRef?.name ?? ""];
  const at = childOf(origin, secretRef === undefined ? "secretSelector" : "secretRef");
  if (names.length === 0)
    diagnostics.report("selector-without-match", at, { what: "Secret of the namespace" });
  return keyFolders(names, at).map((file) => ({ kind: "secret", file, metadata: {}, origin: at }));
}

/** Reads digests of keys, which are no secrets and become part of the program. */
function keysOfConfigMaps(
  labels: Readonly<Record<string, string>>,
  { origin, diagnostics, objectsWith }: KubernetesContext,
): readonly ApiKeySourceNode[] {
  const at = childOf(origin, "configMapSelector");
  const found = objectsWith("ConfigMap", labels);
  if (found.length === 0)
    diagnostics.report("selector-without-match", at, { what: "ConfigMap of the namespace" });
  return found.flatMap(({ name, spec }) =>
    Object.entries(spec?.texts ?? {}).flatMap(([key, text]): readonly ApiKeySourceNode[] => {
      const read = readHash(text);
      if (typeof read !== "string") return [{ ...read, origin: at }];
      const params = { what: `ConfigMap "${name}"`, key, problem: read };
      diagnostics.report("unusable-entry", at, params);
      return [];
    }),
  );
}

/** Reads a digest with its holder; returns a string that says what is wrong. */
function readHash(text: string): Omit<HashNode, "origin"> | string {
  try {
    const { digest: sha256, allowedModels } = readApiKeyEntry(text);
    const entry: { readonly keyHash?: Json; readonly metadata?: Readonly<Record<string, Json>> } =
      text.trim().startsWith("{") ? JSON.parse(text) : {};
    const { keyHash, metadata = {} } = entry;
    if (keyHash === undefined) return 'has no "keyHash", and a ConfigMap must not hold keys';
    return { kind: "hash", sha256, metadata, ...(allowedModels && { allowedModels }) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

type HashNode = Extract<ApiKeySourceNode, { readonly kind: "hash" }>;

/** Returns a name for a key that does not reveal it: the start of its digest, its file, or its variable. */
function keyName(source: ApiKeySourceNode): string {
  switch (source.kind) {
    case "hash":
      return `sha256:${source.sha256.slice(0, 8)}`;
    case "file":
    case "secret":
      return source.file;
    case "key":
      return shownText(source.key);
  }
}

/** Compares the metadata and allowed models of a key before and after. */
function holderChanges(
  before: ApiKeySourceNode,
  keys: readonly ApiKeySourceNode[],
): readonly SettingsChange[] {
  const name = keyName(before);
  const after = keys.find((each) => keyName(each) === name);
  if (after === undefined) return [];
  const [known, knownNow] = [before, after].map(({ metadata }) =>
    Object.entries(metadata).map(([field, value]) => `${field}: ${JSON.stringify(value)}`),
  );
  return [
    ...listChanges(`holder of key ${name}:`, known ?? [], knownNow ?? [], "opens"),
    ...modelChanges(name, before.allowedModels, after.allowedModels),
  ];
}

function modelChanges(
  name: string,
  was: ApiKeySourceNode["allowedModels"],
  is: ApiKeySourceNode["allowedModels"],
): readonly SettingsChange[] {
  if (was !== undefined && is !== undefined) {
    return listChanges(`key ${name}: model`, was, is, "opens");
  }
  if (was === is) return [];
  return is === undefined
    ? [{ direction: "opens", text: `key ${name}: every model` }]
    : [{ direction: "closes", text: `key ${name}: only the models ${is.join(", ")}` }];
}

/** Reports keys that are listed twice: a key has one holder. */
function reportRepeatedKeys(keys: readonly ApiKeySourceNode[], context: ResolveContext): void {
  const known = new Map<string, Origin>();
  for (const source of keys) {
    const { kind, origin } = source;
    const value = kind === "key" ? source.key : kind === "hash" ? source.sha256 : source.file;
    const text = JSON.stringify([kind, value]);
    const first = known.get(text);
    if (first === undefined) known.set(text, origin);
    else {
      const related = [{ at: first, label: "the first one" }];
      context.diagnostics.report("repeated-key", origin, {}, related);
    }
  }
}

/** Reports allowed models on routes without LLM backends, and models that the route does not offer. */
function meetModels(source: ApiKeySourceNode, context: ResolveContext): void {
  const { allowedModels, metadata, origin } = source;
  if (allowedModels === undefined) {
    if (!Object.hasOwn(metadata, "allowedModels")) return;
    const misplaced = keyPlace(childOf(origin, "metadata", "allowedModels"));
    context.diagnostics.report("models-in-metadata", misplaced, {});
    return;
  }
  const at = childOf(origin, "allowedModels");
  const carried = context.route.asksModels === false ? (["requests"] as const) : undefined;
  context.sections.meet({ name: "allowedModels", actsOn: ["llm"], origin: at }, carried);
  const { modelNames = [] } = context.route;
  for (const [index, model] of allowedModels.entries()) {
    if (modelNames.length === 0 || modelNames.some((name) => mayMeanSame(model, name))) continue;
    const params = { model, suggestion: suggest(model, modelNames), known: modelNames };
    context.diagnostics.report("unknown-allowed-model", childOf(at, index), params);
  }
}

function withoutLiteralKey(source: ApiKeySourceNode, context: ResolveContext): ApiKeySourceNode {
  if (source.kind !== "key") return source;
  const at = childOf(source.origin, "key");
  const key = withoutLiteral(source.key, at, { field: '"key"' }, context);
  return { ...source, key };
}

function lowerKey(given: Infer<typeof keySchema>, origin: Origin): ApiKeySourceNode {
  const { metadata = {}, allowedModels } = given;
  const common = { metadata, origin, ...(allowedModels && { allowedModels }) };
  if (given.key !== undefined) return { kind: "key", key: given.key, ...common };
  if (given.file !== undefined) return { kind: "file", file: given.file, ...common };
  const sha256 = (given.keyHash ?? "").slice("sha256:".length).toLowerCase();
  return { kind: "hash", sha256, ...common };
}

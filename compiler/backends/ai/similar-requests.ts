import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import { backendReference } from "../../manifests/field-types.ts";
import type { SimilarRequestsConfig } from "../../model/llm-policies.ts";
import type { BackendAuthConfig } from "../../model/server-policies.ts";
import {
  type Infer,
  integer,
  number,
  object,
  shortText,
  text,
  type ValueCheck,
} from "../../schema/schema.ts";
import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import {
  lowerServer,
  lowerServerReference,
  resolveTarget,
  serverFields,
  serverWords,
} from "../parts/callout-server.ts";
import type { CalloutTarget } from "../parts/callout-target.ts";
import { keyOf } from "../parts/read-connection.ts";
import {
  type CredentialValue,
  credentialSchema,
  readSecretValue,
} from "../parts/sent-credentials.ts";
import type { GuardContext } from "./guard-manifest-form.ts";

/** Search for responses to similar requests, complete. */
export interface SimilarRequestsNode
  extends Omit<SimilarRequestsConfig, "server" | "needsKey" | "origin"> {
  readonly target: CalloutTarget;
  /** Price of a million tokens in US dollars; `undefined` if it is unknown. */
  readonly price: number | undefined;
}

/** Default of `threshold`. */
const THRESHOLD = 0.95;

/** Maximum and default of `maxVectors`. */
const MAX_VECTORS = 20_000;

/** Default of `path`. */
const PATH = "/v1/embeddings";

const OPENAI = "https://api.openai.com";

const common = {
  model: shortText("Model that turns texts into vectors.", {
    examples: ["text-embedding-3-small"],
  }),
  threshold: {
    ...number(
      "Least similarity of two texts (cosine of their vectors) whose requests get the same response. What is similar enough depends on the model: try it with the scores in the log.",
      0.5,
      1,
    ),
    default: THRESHOLD,
  },
  maxVectors: integer(
    "Maximum number of texts that are compared. A vector of 1,536 numbers takes 6 KiB of memory.",
    1,
    MAX_VECTORS,
    { default: MAX_VECTORS },
  ),
  path: text("Path of the API for embeddings (OpenAI's format) at the server.", {
    pattern: "^/[^?#]*$",
    form: 'a path that begins with "/"',
    maxLength: 256,
    default: PATH,
  }),
};

/** A named server has its own key. */
const ownKey: ValueCheck = {
  message: '"apiKey" and "backend" exclude each other: the backend has its own key',
  field: "apiKey",
  holds: ({ apiKey, backend }) => apiKey === undefined || backend === undefined,
  cel: "!has(self.apiKey) || !has(self.backend)",
};

const DESCRIPTION =
  "Also responds to requests that mean the same: a completion whose last text of the user is similar to that of an earlier request, and that is equal otherwise, with the same numbers in that text. Each text is sent to a model for embeddings, after the guards of requests. Every hit is logged with its score.";

/** Schema of `cache.semantic` in a file. */
export const fileSemantic = object(
  {
    ...common,
    host: serverFields.host,
    backend: serverFields.backend,
    apiKey: credentialSchema("API key for the server: `${NAME}`, or `{file: PATH}`."),
  },
  {
    required: ["model"],
    atMostOneOf: ["host", "backend"],
    misplacedFieldHints: {
      ...serverWords,
      policies: "name a server that has them: backend: NAME",
      backendAuth: "write apiKey",
    },
    description: `${DESCRIPTION} The server is OpenAI's unless \`host\` or \`backend\` names another.`,
    examples: [
      { model: "text-embedding-3-small", apiKey: "${OPENAI_API_KEY}" },
      { model: "nomic-embed-text", host: "127.0.0.1:11434", threshold: 0.9 },
    ],
    checks: [ownKey],
  },
);

/** Schema of `cache.semantic` in a manifest. */
export const manifestSemantic = object(
  { ...common, backendRef: backendReference("The server for embeddings.") },
  { required: ["model", "backendRef"], description: DESCRIPTION },
);

/** Reads `cache.semantic` of a file. */
export function lowerSemantic(
  given: Infer<typeof fileSemantic>,
  origin: Origin,
): SimilarRequestsConfig {
  const { host, backend, apiKey } = given;
  const isOwn = host === undefined && backend === undefined;
  const server = lowerServer(isOwn ? { host: OPENAI } : given, origin);
  const auth = apiKey === undefined ? undefined : readKey(apiKey, origin);
  return {
    ...commonOf(given),
    server: auth === undefined ? server : { ...server, policies: { auth } },
    needsKey: isOwn,
    origin,
  };
}

function readKey(key: CredentialValue, origin: Origin): BackendAuthConfig {
  return { ...keyOf(readSecretValue(key, childOf(origin, "apiKey"))), origin };
}

/** Reads `cache.semantic` of a manifest; returns `undefined` if its server is unknown (reported). */
export function readSemantic(
  given: Infer<typeof manifestSemantic>,
  context: GuardContext,
): SimilarRequestsConfig | undefined {
  const server = lowerServerReference(given, context);
  return server && { ...commonOf(given), server, needsKey: false, origin: context.origin };
}

function commonOf({
  model,
  threshold = THRESHOLD,
  maxVectors = MAX_VECTORS,
  path = PATH,
}: Pick<Infer<typeof fileSemantic>, keyof typeof common>) {
  return { model, threshold, maxVectors, path };
}

/** Resolves the search for similar requests; returns `undefined` if a mistake was reported. */
export function resolveSemantic(
  { server, needsKey, origin, ...rest }: SimilarRequestsConfig,
  context: BackendResolveContext,
): SimilarRequestsNode | undefined {
  if (needsKey && server.policies?.auth === undefined)
    context.diagnostics.report("embeddings-without-key", keyPlace(origin), {});
  const target = resolveTarget(server, context);
  return target && { ...rest, target, price: priceOf(rest.model, origin, context) };
}

/** Returns the price of a model for embeddings; reports that it is missing if costs are counted. */
function priceOf(
  model: string,
  origin: Origin,
  { modelPrices, route, diagnostics }: BackendResolveContext,
): number | undefined {
  const { openai, ...others } = modelPrices ?? {};
  const found = [openai, ...Object.values(others)].find((models) => models?.[model] !== undefined);
  const price = found?.[model]?.rates?.input;
  const isCounted = modelPrices !== undefined || route.countsCosts === true;
  if (price === undefined && isCounted)
    diagnostics.report("unpriced-model", childOf(origin, "model"), { model, system: "openai" });
  return price;
}

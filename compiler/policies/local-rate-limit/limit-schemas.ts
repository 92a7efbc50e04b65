import {
  choice,
  duration,
  either,
  expression,
  type Infer,
  inPhase,
  integer,
  list,
  number,
  object,
} from "../../schema/schema.ts";
import { bothForms, formFields, wordsOfForms } from "../../schema/two-forms.ts";
import { needsField } from "../../schema/value-checks.ts";
import { conditionalSchema } from "../parts/conditions.ts";

const MAX = 1_000_000_000_000;

const UNIT = "write unit: Minutes (or Seconds, Hours, Days, Months)";
const AMOUNT = "write requests: 100, and unit: Minutes";

/** Amounts per unit of time. Resources have no maximum. */
const amounts = {
  requests: amount("Maximum number of requests per `unit`.", 1),
  tokens: amount("Maximum number of LLM tokens per `unit`, input and output together.", 1),
  burst: amount("Additional amount allowed in a burst.", 0, { default: 0 }),
};

/** How replicas count together. */
const sharing = {
  consistency: wordsOfForms(
    "How replicas count. `leased`: all replicas together; each takes slices of what is left in advance, at most a sixth of it in all. `strict`: the same, and each request asks the store. `local`: each replica for itself. By default `leased` if the gateway has a store (`config.store`), otherwise `local`.",
    ["leased", "strict", "local"],
  ),
  onStoreFailure: wordsOfForms(
    "Treatment of requests while the store does not respond. `local`: each replica counts for itself, from what was left, and reports that later. `closed`: requests get 503. `open`: requests are not counted. The default is `local`.",
    ["local", "closed", "open"],
  ),
};

function amount(description: string, minimum: number, file: { readonly default?: number } = {}) {
  return bothForms(integer(description, minimum, Number.MAX_SAFE_INTEGER), {
    file: { maximum: MAX, ...file },
  });
}

const unit = choice(
  "Unit of time. Days and months follow the calendar, in UTC. Usage of limits of an hour or longer is persisted in `GWC_STATE_DIR`.",
  ["Seconds", "Minutes", "Hours", "Days", "Months"],
);

const budget = number(
  "Maximum cost per `unit`, in the currency of `cost`: US dollars by default.",
  0.000_001,
  MAX,
);

const cost = inPhase(
  "response",
  expression(
    "Amount that a finished call takes instead of its tokens: `double(llm.totalTokens) * 0.000001`. A budget takes `llm.cost.total` by default, the price of the model. If the expression fails, nothing is taken and a warning is logged.",
  ),
);

const key = expression(
  "CEL expression; each of its values has its own bucket: `jwt.sub`, `source.address`. Requests for which it fails share one.",
);

const limit = object(
  {
    requests: amounts.requests.file,
    budget,
    unit,
    burst: amounts.burst.file,
    maxTokens: integer("Capacity of the bucket, which starts full.", 1, MAX),
    tokensPerFill: integer("Tokens added per `fillInterval`.", 1, MAX),
    fillInterval: duration("Interval at which `tokensPerFill` is added."),
    type: choice(
      "Whether each request or each LLM token takes a token from the bucket.",
      ["requests", "tokens"],
      { default: "requests" },
    ),
    tokens: amounts.tokens.file,
    cost,
    ...formFields("file", sharing),
    key,
  },
  {
    exactlyOneOf: ["requests", "maxTokens", "tokens", "budget"],
    misplacedFieldHints: {
      ...{ per: UNIT, window: UNIT, interval: UNIT, period: UNIT },
      limit: AMOUNT,
      rate: AMOUNT,
    },
    checks: [
      {
        message: '"unit" requires "requests", "tokens" or "budget"',
        field: "unit",
        needs: "requests",
        holds: ({ unit, maxTokens }) => unit === undefined || maxTokens === undefined,
        cel: "!has(self.unit) || !has(self.maxTokens)",
      },
      {
        message: '"burst" requires "requests", "tokens" or "budget"',
        field: "burst",
        needs: "requests",
        holds: ({ burst, maxTokens }) => burst === undefined || maxTokens === undefined,
        cel: "!has(self.burst) || !has(self.maxTokens)",
      },
      {
        message: '"cost" requires "budget" or "type: tokens"',
        field: "cost",
        needs: "budget",
        holds: ({ cost, budget, type }) =>
          cost === undefined || budget !== undefined || type === "tokens",
        cel: "!has(self.cost) || has(self.budget) || (has(self.type) && self.type == 'tokens')",
      },
      {
        message: '"onStoreFailure" requires limits that replicas share',
        field: "onStoreFailure",
        holds: ({ consistency, onStoreFailure }) =>
          onStoreFailure === undefined || consistency !== "local",
        cel: "!has(self.onStoreFailure) || !has(self.consistency) || self.consistency != 'local'",
      },
      needsField("budget", "unit"),
      needsField("tokens", "unit"),
      needsField("type", "maxTokens"),
      needsField("tokensPerFill", "maxTokens"),
      needsField("fillInterval", "maxTokens"),
    ],
    description:
      "A number of `requests` or `tokens`, or a `budget`, per `unit`; or a token bucket (`maxTokens`).",
    examples: [
      { requests: 100, unit: "Minutes", key: "source.address" },
      {
        budget: 50,
        unit: "Months",
        key: "apiKey.team",
      },
    ],
  },
);

/** One validated limit of a file. */
export type LimitValue = Infer<typeof limit>;

/** Schema of `localRateLimit` in a file. */
export const localRateLimitSchema = either(
  list(limit, { minItems: 1, maxItems: 16 }),
  object({ conditional: conditionalSchema(limit) }, { required: ["conditional"] }),
  { description: "Limits, all of which a request must pass." },
);

/** Schema of `local` in a GatewayPolicy's `rateLimit`. */
export const kubernetesLimitsSchema = list(
  object(
    {
      requests: amounts.requests.manifest,
      tokens: amounts.tokens.manifest,
      budget,
      unit,
      burst: amounts.burst.manifest,
      cost,
      key,
      ...formFields("manifest", sharing),
    },
    {
      required: ["unit"],
      exactlyOneOf: ["requests", "tokens", "budget"],
      checks: [
        needsField("cost", "budget"),
        {
          message: '"onStoreFailure" requires limits that replicas share',
          field: "onStoreFailure",
          holds: ({ consistency, onStoreFailure }) =>
            onStoreFailure === undefined || consistency !== "Local",
          cel: "!has(self.onStoreFailure) || !has(self.consistency) || self.consistency != 'Local'",
        },
      ],
    },
  ),
  { minItems: 1, maxItems: 16 },
);

/** One validated limit of a manifest. */
export type ManifestLimitValue = Infer<typeof kubernetesLimitsSchema>[number];

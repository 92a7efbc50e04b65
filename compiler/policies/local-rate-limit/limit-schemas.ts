import {
  choice,
  duration,
  either,
  expression,
  type Infer,
  integer,
  list,
  needsField,
  number,
  object,
} from "../../schema/schema.ts";
import { conditionalSchema } from "../parts/conditions.ts";

const MAX = 1_000_000_000_000;

const UNIT = "write unit: Minutes";
const AMOUNT = "write requests: 100, and unit: Minutes";

const limit = object(
  {
    requests: integer("Requests in one unit of time.", 1, MAX),
    budget: number("Money in one unit of time, in whatever `cost` gives.", 0.000_001, MAX),
    unit: choice(
      "The unit; days and months are those of the calendar, in UTC. What is used of an hour's limit and of longer ones is kept below `GWC_STATE_DIR`.",
      ["Seconds", "Minutes", "Hours", "Days", "Months"],
    ),
    burst: integer("Requests beyond them that may come at once.", 0, MAX, { default: 0 }),
    maxTokens: integer("What the bucket holds at most, and at first.", 1, MAX),
    tokensPerFill: integer("What each interval brings.", 1, MAX),
    fillInterval: duration("The interval."),
    type: choice(
      "What takes a token: a request, or each token of the models it uses.",
      ["requests", "tokens"],
      { default: "requests" },
    ),
    tokens: integer("Tokens of models in one unit of time, input and output.", 1, MAX),
    cost: expression(
      "What a call takes when it is over, in the place of its tokens: `double(llm.totalTokens) * 0.000001`. One whose cost fails takes nothing, and the operator is warned.",
    ),
    key: expression(
      "Gives each value its own bucket: `jwt.sub`, `source.address`. Callers for whom it fails share one.",
    ),
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
        message: '"unit" acts only beside "requests", "tokens" or "budget"',
        field: "unit",
        needs: "requests",
        holds: ({ unit, maxTokens }) => unit === undefined || maxTokens === undefined,
        cel: "!has(self.unit) || !has(self.maxTokens)",
      },
      {
        message: '"burst" acts only beside "requests", "tokens" or "budget"',
        field: "burst",
        needs: "requests",
        holds: ({ burst, maxTokens }) => burst === undefined || maxTokens === undefined,
        cel: "!has(self.burst) || !has(self.maxTokens)",
      },
      {
        message: '"cost" acts only beside "budget" or "type: tokens"',
        field: "cost",
        needs: "budget",
        holds: ({ cost, budget, type }) =>
          cost === undefined || budget !== undefined || type === "tokens",
        cel: "!has(self.cost) || has(self.budget) || (has(self.type) && self.type == 'tokens')",
      },
      needsField("budget", "cost"),
      needsField("budget", "unit"),
      needsField("tokens", "unit"),
      needsField("type", "maxTokens"),
      needsField("tokensPerFill", "maxTokens"),
      needsField("fillInterval", "maxTokens"),
    ],
    description:
      "`requests`, `tokens` or a `budget` in each `unit`, or a token bucket in its own words.",
    examples: [
      { requests: 100, unit: "Minutes", key: "source.address" },
      {
        budget: 50,
        unit: "Months",
        key: "apiKey.team",
        cost: "(double(llm.inputTokens) * 0.25 + double(llm.outputTokens) * 2.0) / 1000000.0",
      },
    ],
  },
);

/** One limit of a file, validated. */
export type LimitValue = Infer<typeof limit>;

/** The shape of `localRateLimit` in the file. */
export const localRateLimitSchema = either(
  list(limit, { minItems: 1, maxItems: 16 }),
  object({ conditional: conditionalSchema(limit) }, { required: ["conditional"] }),
  { description: "Limits; a request has to pass all of them." },
);

/** The shape of `local` of a GatewayPolicy's `rateLimit`. */
export const kubernetesLimitsSchema = list(
  object(
    {
      requests: integer("Requests in a unit.", 1, Number.MAX_SAFE_INTEGER),
      tokens: integer("LLM tokens in a unit.", 1, Number.MAX_SAFE_INTEGER),
      unit: choice("The unit.", ["Seconds", "Minutes", "Hours"]),
      burst: integer("Extra allowance in a short time.", 0, Number.MAX_SAFE_INTEGER),
    },
    { required: ["unit"], exactlyOneOf: ["requests", "tokens"] },
  ),
  { minItems: 1, maxItems: 16 },
);

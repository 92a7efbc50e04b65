import type { Origin } from "../../diagnostics/diagnostic.ts";
import { type Infer, integer, object, shortText, type ValueCheck } from "../../schema/schema.ts";

/** `toolSearch` with its defaults. */
export interface ToolSearchConfig {
  readonly above: number;
  readonly maxResults: number;
  readonly names: ToolSearchNames;
  readonly origin: Origin;
}

/** Names of the gateway's tools. */
type ToolSearchNames = Readonly<Record<"search" | "describe" | "call", string>>;

const NAMES: ToolSearchNames = {
  search: "search_tools",
  describe: "describe_tool",
  call: "call_tool",
};

const MAX_RESULTS = 10;

const names = object(
  {
    search: nameOf("search", "searches"),
    describe: nameOf("describe", "returns the definition of a tool"),
    call: nameOf("call", "calls another one"),
  },
  {
    atLeastOneOf: ["search", "describe", "call"],
    checks: [
      distinct("search", "describe"),
      distinct("search", "call"),
      distinct("describe", "call"),
    ],
    description: "Other names of the gateway's tools, if a server has tools with these names.",
  },
);

/** Schema of `toolSearch`, which is the same in both forms. */
export const toolSearchSchema = object(
  {
    above: integer(
      "Number of tools that a client may use, beyond which its list contains three tools of the gateway instead: one searches, one returns a definition, and one calls a tool.",
      1,
      10_000,
    ),
    maxResults: integer("Maximum number of tools that a search returns.", 1, 50, {
      default: MAX_RESULTS,
    }),
    names,
  },
  {
    required: ["above"],
    examples: [{ above: 40 }],
    description:
      "Lets clients search for tools, so that not every request of an agent contains the definitions of all. Rules, lock, log and metrics treat each call as a call of the tool that it names.",
  },
);

/** Converts a validated `toolSearch` to canonical form. */
export function lowerToolSearch(
  value: Infer<typeof toolSearchSchema> | undefined,
  origin: Origin,
): ToolSearchConfig | undefined {
  if (value === undefined) return undefined;
  const { above, maxResults = MAX_RESULTS, names: given } = value;
  const { search, describe, call } = NAMES;
  const own = {
    search: given?.search ?? search,
    describe: given?.describe ?? describe,
    call: given?.call ?? call,
  };
  return { above, maxResults, names: own, origin };
}

function nameOf(key: keyof ToolSearchNames, effect: string) {
  return shortText(`Name of the tool that ${effect}.`, {
    maxLength: 64,
    pattern: "^[A-Za-z0-9_-]+$",
    form: 'letters, digits, "_" and "-"',
    default: NAMES[key],
  });
}

function distinct(one: keyof ToolSearchNames, other: keyof ToolSearchNames): ValueCheck {
  const [first, second] = [one, other].map(
    (key) => `(has(self.${key}) ? self.${key} : '${NAMES[key]}')`,
  );
  return {
    message: `"${one}" and "${other}" must differ`,
    field: other,
    holds: (value) => (value[one] ?? NAMES[one]) !== (value[other] ?? NAMES[other]),
    cel: `${first} != ${second}`,
  };
}

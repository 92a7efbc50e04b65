import { type ItemList, itemLists } from "../../runtime/mcp/protocol/item-lists.ts";

const icons = [{ src: "https://a.example/i.png", mimeType: "image/png", sizes: ["48x48"] }];
const described = { title: "T", description: "D", icons, _meta: { "a/b": 1 } };
const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const annotations = {
  audience: ["user"],
  priority: 0.5,
  lastModified: "2025-01-12T15:00:58Z",
};
/** Valid items of each list, with every member. */
export const examples: Readonly<Record<ItemList, object>> = {
  tools: {
    name: "a",
    ...described,
    inputSchema: schema,
    outputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema },
    annotations: { title: "T", readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    execution: { taskSupport: "optional" },
  },
  prompts: {
    name: "a",
    ...described,
    arguments: [{ name: "x", description: "D", required: true }],
  },
  resources: {
    uri: "a://b",
    name: "n",
    mimeType: "text/plain",
    size: 3,
    annotations,
    ...described,
  },
  resourceTemplates: { uriTemplate: "a://{b}", name: "n", annotations, ...described },
};

/** Values that take the place of others. */
const VALUES = [
  null,
  true,
  0,
  1.5,
  -1,
  "",
  "text",
  [],
  [null],
  [{}],
  {},
  { type: "string" },
  { a: true },
];

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Returns pseudo-random numbers below a bound, the same in every run. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Changes, removes or adds a value somewhere in another one. */
function mutate(value: unknown, next: (bound: number) => number): unknown {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (keys.length === 0 || next(4) === 0) return VALUES[next(VALUES.length)];
  const key = keys[next(keys.length)] ?? "";
  if (Array.isArray(value))
    return value.map((each, at) => (String(at) === key ? mutate(each, next) : each));
  const entries = Object.entries(value as object);
  if (next(5) === 0) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(
    entries.map(([name, each]) => [name, name === key ? mutate(each, next) : each]),
  );
}

/** Returns so many mutations of a valid item, the same in every run. Entries without a name are left out: merging removes them. */
export function* mutatedItems(list: ItemList, rounds: number): Iterable<unknown> {
  const next = numbers(42);
  for (let round = 0; round < rounds; round++) {
    const mutated = mutate(examples[list], next);
    const item = next(2) === 0 ? mutated : mutate(mutated, next);
    const name = isObject(item) ? item[itemLists[list].nameField] : undefined;
    if (typeof name === "string") yield item;
  }
}

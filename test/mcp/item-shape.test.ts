import * as sdk2 from "@modelcontextprotocol/core";
import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect, it } from "vitest";
import { shapeProblem } from "../../runtime/mcp/aggregate/item-shape.ts";
import { ITEM_LIST_NAMES } from "../../runtime/mcp/protocol/item-lists.ts";
import { examples, mutatedItems } from "./mutated-items.ts";

/** The schemas by which the libraries of both eras read lists. */
const readers = {
  sessions: {
    tools: ListToolsResultSchema,
    prompts: ListPromptsResultSchema,
    resources: ListResourcesResultSchema,
    resourceTemplates: ListResourceTemplatesResultSchema,
  },
  stateless: {
    tools: sdk2.ListToolsResultSchema,
    prompts: sdk2.ListPromptsResultSchema,
    resources: sdk2.ListResourcesResultSchema,
    resourceTemplates: sdk2.ListResourceTemplatesResultSchema,
  },
} as const;

it.each(ITEM_LIST_NAMES)(
  "libraries read every one of 5000 mutated %s that are not omitted",
  (list) => {
    const outcomes = { kept: 0, omitted: 0 };
    for (const item of mutatedItems(list, 2500)) {
      for (const era of ["sessions", "stateless"] as const) {
        const text = JSON.stringify(item);
        const problem = shapeProblem(list, text, era);
        outcomes[problem === undefined ? "kept" : "omitted"]++;
        const read = readers[era][list].safeParse({ [list]: [item] });
        if (problem === undefined) expect(read.success, `${era} ${text}`).toBe(true);
      }
    }
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(500);
  },
);

it.each(ITEM_LIST_NAMES)("valid %s are kept", (list) => {
  for (const era of ["sessions", "stateless"] as const)
    expect(shapeProblem(list, JSON.stringify(examples[list]), era)).toBeUndefined();
});

it("clients without sessions accept any output schema", () => {
  const tool = JSON.stringify({ ...examples.tools, outputSchema: { type: "array" } });
  expect(shapeProblem("tools", tool, "stateless")).toBeUndefined();
  expect(shapeProblem("tools", tool, "sessions")).toBe('outputSchema is not of type "object"');
});

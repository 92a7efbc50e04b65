import { expect, it } from "vitest";
import { lastMeasurement, reasons } from "./compatibility/page.ts";

it.each(["examples", "manifests"] as const)(
  "every file of agentgateway's %s that is refused or differs has a reason, and no other file",
  (part) => {
    const different = lastMeasurement().releases.flatMap((release) => release[part].different);
    expect(Object.keys(reasons()[part]).toSorted()).toEqual([...new Set(different)].toSorted());
  },
);

it("every refused snippet of its documentation has a reason, and no other snippet", () => {
  const { different } = lastMeasurement().snippets;
  expect(Object.keys(reasons().snippets).toSorted()).toEqual(different.toSorted());
});

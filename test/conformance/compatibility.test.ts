import { expect, it } from "vitest";
import { measuredReleases, reasons } from "./compatibility/page.ts";

it.each(["examples", "manifests"] as const)(
  "every file of agentgateway's %s that is refused or differs has a reason, and no other file",
  (part) => {
    const different = measuredReleases().flatMap((release) => release[part].different);
    expect(Object.keys(reasons()[part]).toSorted()).toEqual([...new Set(different)].toSorted());
  },
);

import { auditPage } from "./command-pages/audit.ts";
import { canPage } from "./command-pages/can.ts";
import { diffPage } from "./command-pages/diff.ts";
import { graphPage } from "./command-pages/graph.ts";
import { importPage } from "./command-pages/import.ts";
import { lockPage } from "./command-pages/lock.ts";
import { testPage } from "./command-pages/test.ts";
import type { Page } from "./page.ts";

/** The page of a command that needs more than its help; undefined: its help says all. */
export function commandPage(name: string): Page | undefined {
  return commandPages.find(([command]) => command === name)?.[1]();
}

/** The commands with a page. */
export const commandPages: readonly (readonly [name: string, page: () => Page])[] = [
  ["diff", diffPage],
  ["can", canPage],
  ["test", testPage],
  ["audit", auditPage],
  ["lock", lockPage],
  ["graph", graphPage],
  ["import", importPage],
];

import { expect, it } from "vitest";
import { newSession } from "../../runtime/mcp/session/session.ts";
import { sessionTable } from "../../runtime/mcp/session/session-table.ts";
import { Metrics } from "../../runtime/metrics/metrics.ts";
import type { LiveSession } from "../../runtime/process/gateway-context.ts";

const parts = { initialize: undefined, targets: [], live: undefined };
const idOf = (number: number) => String(number).padStart(16, "0");

function someSession(number: number, expiresAt: number) {
  return newSession(idOf(number), "binding", parts, expiresAt);
}

it("an ended session is known after it was dropped from the cache", () => {
  const table = sessionTable({ sessions: new Map<string, LiveSession>(), metrics: new Metrics() });
  const later = Date.now() + 60_000;
  const session = someSession(0, later);
  table.remember(session);
  table.end(session);
  for (let number = 1; number <= 5000; number++) table.remember(someSession(number, later));
  expect(table.isEnded(session.id)).toBe(true);
});

it("ended sessions are remembered until they expire, up to a limit", () => {
  const table = sessionTable({ sessions: new Map<string, LiveSession>(), metrics: new Metrics() });
  table.end(someSession(0, Date.now() - 1));
  table.end(someSession(1, Date.now() + 60_000));
  expect(table.isEnded(idOf(0))).toBe(false);
  for (let number = 2; number <= 65_537; number++) {
    table.end(someSession(number, Date.now() + 60_000));
  }
  expect(table.isEnded(idOf(1))).toBe(false);
  expect(table.isEnded(idOf(65_537))).toBe(true);
});

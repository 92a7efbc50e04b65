import { expect, it } from "vitest";
import { NamespaceTurns } from "../../compiler/controller/model/namespace-turns.ts";
import type { Snapshot } from "../../compiler/controller/model/snapshot.ts";

/** Objects of namespaces, by the version of each: `{ a: 1 }` is one object of namespace `a`. */
function declared(versions: Readonly<Record<string, number>>): Snapshot {
  const all = Object.entries(versions).map(([namespace, version]) => {
    const object = { text: `${version}`, namespace, id: `Route ${namespace}`, generation: version };
    return [`/${namespace}`, object] as const;
  });
  return new Map(all);
}

function versionsOf(snapshot: Snapshot): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(
    [...snapshot.values()].map(({ namespace, generation }) => [namespace, generation]),
  );
}

/** A compiler whose clock is the cost of what it compiles. */
class Clock {
  now = 0;
  readonly turns = new NamespaceTurns();
  readonly versions: Record<string, number> = { a: 0, b: 0, x: 0 };
  /** Milliseconds that the changes of a namespace take beyond the usual. */
  readonly costs: Record<string, number> = {};
  compiled: Readonly<Record<string, number | undefined>> = {};

  constructor() {
    for (let index = 0; index < 3; index += 1) {
      this.edit("a", "b");
      this.compile();
    }
  }

  edit(...namespaces: readonly string[]): void {
    for (const each of namespaces) this.versions[each] = (this.versions[each] ?? 0) + 1;
  }

  /** Compiles what has its turn; returns its namespaces, or how long they wait. */
  compile(): readonly string[] | number | undefined {
    const { turn, wait } = this.turns.next(declared(this.versions), this.now, false);
    if (turn === undefined) return wait;
    const cost = turn.namespaces.reduce((sum, each) => sum + (this.costs[each] ?? 0), 20);
    this.now += cost;
    this.turns.compiled(turn, cost, this.now);
    this.compiled = versionsOf(turn.snapshot);
    return turn.namespaces;
  }
}

it("changes that take long are compiled alone, and the next ones of their namespace wait", () => {
  const clock = new Clock();
  clock.costs.x = 5_000;
  clock.edit("a", "x");
  expect(clock.compile()).toEqual(["a", "x"]);
  // It is not known which of them was expensive.
  clock.edit("a", "x");
  expect([clock.compile(), clock.compile()]).toEqual([["a"], ["x"]]);
  clock.edit("a", "b", "x");
  expect(clock.compile()).toEqual(["a", "b"]);
  expect(clock.compile()).toBeGreaterThan(4 * 4_900 - 100);
});

it("a tenant who edits an expensive object all the time delays another's change by one compilation", () => {
  const clock = new Clock();
  clock.costs.x = 5_000;
  let [compiledX, end] = [0, clock.now + 300_000];
  while (clock.now < end) {
    clock.edit("x");
    const edited = clock.now;
    const found = clock.compile();
    if (Array.isArray(found) && found.includes("x")) compiledX += 1;
    clock.now += 50;
    // A change that comes at any time is compiled next.
    clock.edit("b");
    expect(clock.compile()).toEqual(["b"]);
    expect(clock.compiled.b).toBe(clock.versions.b);
    expect(clock.now - edited).toBeLessThan(5_200);
  }
  // The expensive changes have their share.
  expect(compiledX).toBeGreaterThan(300_000 / 5_020 / 6);
  expect(compiledX).toBeLessThan(300_000 / 5_020 / 3);
});

it("a namespace that waits keeps the previous state of all of its objects", () => {
  const clock = new Clock();
  clock.costs.x = 5_000;
  clock.edit("x");
  clock.compile();
  const before = clock.versions.x;
  clock.edit("b", "x");
  expect(clock.compile()).toEqual(["b"]);
  expect(clock.compiled).toEqual({ ...clock.versions, x: before });
  clock.now += 60_000;
  expect(clock.compile()).toEqual(["x"]);
  expect(clock.compiled).toEqual(clock.versions);
  expect(clock.compile()).toBeUndefined();
});

it("a namespace whose changes are cheap again waits no longer", () => {
  const clock = new Clock();
  clock.costs.x = 5_000;
  clock.edit("x");
  clock.compile();
  expect(clock.turns.waiting(clock.now)).toBe(1);
  clock.costs.x = 0;
  clock.now += 60_000;
  clock.edit("x");
  expect(clock.compile()).toEqual(["x"]);
  clock.edit("a", "x");
  expect(clock.compile()).toEqual(["a", "x"]);
});

it("changes of many namespaces at once are no reason to wait", () => {
  const clock = new Clock();
  const names = Array.from({ length: 50 }, (_, index) => `team-${index}`);
  for (const each of names) clock.costs[each] = 100;
  clock.edit(...names);
  expect(clock.compile()).toHaveLength(50);
  clock.edit(...names);
  expect(clock.compile()).toHaveLength(50);
});

it("changes that end the compiler are left out, and those of others are compiled", () => {
  const clock = new Clock();
  clock.edit("a", "x");
  const next = () => clock.turns.next(declared(clock.versions), clock.now, false);
  const both = next().turn;
  expect(both?.namespaces).toEqual(["a", "x"]);
  expect(both && clock.turns.failed(both, clock.now)).toBe(true);
  expect(clock.compile()).toEqual(["a"]);
  const x = next().turn;
  expect(x?.namespaces).toEqual(["x"]);
  expect(x && clock.turns.failed(x, clock.now)).toBe(true);
  clock.edit("b");
  expect(clock.compile()).toEqual(["b"]);
  expect(clock.compile()).toBe(60_000 - 20);
});

it("everything is compiled first, and again when something else than an object has changed", () => {
  const turns = new NamespaceTurns();
  const objects = declared({ a: 1, x: 1 });
  const { turn } = turns.next(objects, 0, false);
  expect(turn).toEqual({ snapshot: objects, namespaces: [] });
  if (turn !== undefined) turns.compiled(turn, 60_000, 60_000);
  expect(turns.next(objects, 60_000, false)).toEqual({ turn: undefined, wait: undefined });
  expect(turns.next(objects, 60_000, true).turn).toEqual({ snapshot: objects, namespaces: [] });
});

import { expect, it, onTestFinished } from "vitest";
import { CompilerThread } from "../../compiler/controller/model/compiler-thread.ts";
import { NamespaceTurns } from "../../compiler/controller/model/namespace-turns.ts";
import type { Snapshot } from "../../compiler/controller/model/snapshot.ts";
import { others, tenant } from "./tenants.ts";

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
  /** Milliseconds that every compilation takes. */
  usual = 20;
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
    const cost = turn.namespaces.reduce((sum, each) => sum + (this.costs[each] ?? 0), this.usual);
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

it("a tenant whose objects make every compilation longer makes no change of others wait", () => {
  const clock = new Clock();
  clock.costs.x = 5_000;
  clock.edit("x");
  expect(clock.compile()).toEqual(["x"]);
  clock.usual = 1_000;
  for (const each of ["a", "b", "a", "b"]) {
    clock.edit(each);
    expect(clock.compile()).toEqual([each]);
  }
  clock.costs.a = 5_000;
  clock.edit("a");
  clock.compile();
  clock.edit("a");
  expect(clock.compile()).toBeGreaterThan(4 * 4_900 - 100);
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
  expect([...clock.turns.waiting(clock.now).keys()]).toEqual(["x"]);
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

it("changes that end the compiler again and again are tried ever more rarely", () => {
  const clock = new Clock();
  const waits: (number | undefined)[] = [];
  for (let attempt = 0; attempt < 4; attempt += 1) {
    clock.edit("x");
    const { turn } = clock.turns.next(declared(clock.versions), clock.now, false);
    expect(turn?.namespaces).toEqual(["x"]);
    if (turn !== undefined) clock.turns.failed(turn, clock.now);
    const { wait = 0 } = clock.turns.next(declared(clock.versions), clock.now, false);
    waits.push(wait);
    clock.now += wait;
  }
  expect(waits).toEqual([60_000, 240_000, 960_000, 3_600_000]);
});

it("only a compilation of changes has a limit", () => {
  const clock = new Clock();
  const { turn } = clock.turns.next(declared(clock.versions), clock.now, true);
  expect(turn && clock.turns.limitOf(turn)).toBeUndefined();
  clock.edit("x");
  const next = clock.turns.next(declared(clock.versions), clock.now, false).turn;
  expect(next && clock.turns.limitOf(next)).toBe(15_000);
  if (next !== undefined) clock.turns.failed(next, clock.now);
  expect(next && clock.turns.limitOf(next)).toBe(60_000);
});

/** A policy that is not cheap. */
function slowPolicy(index: number): object {
  const terms = Array.from({ length: 500 }, (_, at) => `request.path == "/${index}-${at}"`);
  const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: "a" }];
  const policy = { matchExpressions: [terms.join(" || ")] };
  return {
    ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy", metadata: { name: `p${index}` } },
    spec: { targetRefs, traffic: { authorization: { action: "Deny", policy } } },
  };
}

it("a compilation beyond its limit is ended, and the next one begins with everything", async () => {
  const compiler = new CompilerThread();
  onTestFinished(() => compiler.stop());
  const texts = [...tenant, ...others].map((each) => JSON.stringify(each));
  const files = Object.fromEntries(texts.map((text, index) => [`/${index}.json`, text]));
  const many = Array.from({ length: 400 }, (_, index) => [
    `/many-${index}.json`,
    JSON.stringify(slowPolicy(index)),
  ]);
  const whole = { ...files, ...Object.fromEntries(many) };
  await expect(compiler.compile(whole, undefined, 1)).rejects.toThrow(/more than 0.001 s/);
  const { gateways, processorTime } = await compiler.compile(files, undefined, undefined);
  expect([...gateways.keys()]).toContain("default/g");
  expect(processorTime).toBeGreaterThan(0);
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { clusterTables, requestsFor, tables } from "./arbitrary.ts";
import { type Form, startBatch } from "./batch.ts";
import { clusterText, standaloneText } from "./forms.ts";
import type { Table } from "./model.ts";
import { decide, type Order } from "./naive.ts";

const isLong = process.env.GWC_LONG_TESTS !== undefined;
const timeout = isLong ? 7_200_000 : 300_000;

/** So many bundles of so many tables: building costs more than asking. */
async function agree(
  table: fc.Arbitrary<Table>,
  form: Form,
  order: Order,
  { bundles, size }: { readonly bundles: number; readonly size: number },
): Promise<void> {
  const samples = fc.array(
    table.chain((each) => requestsFor(each).map((requests) => ({ table: each, requests }))),
    { minLength: size, maxLength: size },
  );
  const property = fc.asyncProperty(samples, async (batch) => {
    const gateway = await startBatch(
      batch.map((each) => each.table),
      form,
    );
    try {
      for (const [index, { table: asked, requests }] of batch.entries()) {
        const found = await gateway.ask(index, requests);
        for (const [at, request] of requests.entries()) {
          const wanted = decide(asked, request, order);
          expect(found[at], JSON.stringify({ request, table: asked })).toBe(wanted);
        }
      }
    } finally {
      await gateway.stop();
    }
  });
  // A smaller batch would take a build for each step: the message shows the one table and request instead.
  const { failed, seed, errorInstance } = await fc.check(property, {
    numRuns: bundles,
    endOnFailure: true,
  });
  if (failed) throw new Error(`seed ${seed}: ${errorInstance}`);
}

it("a file's routes are chosen as a list sorted by Gateway API chooses", { timeout }, () =>
  agree(tables, standaloneText, "file", { bundles: isLong ? 180 : 2, size: 40 }),
);

it("a cluster's routes are chosen as a list sorted by Gateway API chooses", { timeout }, () =>
  agree(clusterTables, clusterText, "age", { bundles: isLong ? 180 : 2, size: 16 }),
);

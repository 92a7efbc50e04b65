import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";
import { root } from "../harness/root.ts";

const module = (name: string) => JSON.stringify(path.join(root, "runtime/telemetry/otlp", name));

/** Caches spans between short-lived buffers of many sizes, as requests create them. */
const PROGRAM = `
import { AttributeRuns, OtlpAttributes } from ${module("attributes.ts")};
import { ItemBuffer } from ${module("item-buffer.ts")};
import { otlpJson } from ${module("json-format.ts")};
import { otlpProtobuf } from ${module("protobuf-format.ts")};
const { hexId } = await import(${module("hex-id.ts")});
const head = { traceId: hexId("0".repeat(32)), spanId: hexId("1".repeat(16)), flags: "01", parentId: undefined, start: 1 };
const held = [];
globalThis.gc();
const before = process.memoryUsage().arrayBuffers;
for (const format of [otlpJson(), otlpProtobuf(() => "")]) {
  const items = new ItemBuffer();
  const runs = new AttributeRuns(format.attributes("span"));
  held.push(format, runs, items);
  for (let route = 0; route < 16; route++)
    for (let client = 0; client < 16; client++)
      for (let status = 0; status < 4; status++) {
        const attributes = new OtlpAttributes(runs);
        attributes.text("http.route", "/route/" + route);
        attributes.text("user_agent.original", "client-" + client);
        attributes.number("http.response.status_code", 200 + status);
        format.span(items, head, "GET /route/" + route, 2, 2, attributes, undefined);
        items.clear();
        for (let size = 1; size < 30_000; size *= 3) Buffer.from("x".repeat(size));
        Buffer.from("x".repeat(30_000));
        Buffer.from("x".repeat(30_000));
      }
}
globalThis.gc();
console.log((process.memoryUsage().arrayBuffers - before) / 1e6, held.length);
`;

it("cached spans own their bytes instead of keeping slabs alive", () => {
  const argv = ["--expose-gc", "--input-type=module", "-e", PROGRAM];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
  expect(stderr).toBe("");
  // About a megabyte is written; slabs would be 130.
  expect(Number(stdout.split(" ")[0])).toBeLessThan(5);
});

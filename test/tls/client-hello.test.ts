import fc from "fast-check";
import { expect, it } from "vitest";
import { type ClientHello, ClientHelloReader } from "../../runtime/tls/client-hello.ts";

const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const vector = (bytes: Buffer) => Buffer.concat([u16(bytes.length), bytes]);

/** A ClientHello with a name and other extensions around it, in records of some size. */
function helloRecords(name: string, others: readonly Uint8Array[], recordSize: number): Buffer {
  const list = vector(Buffer.concat([Buffer.from([0]), vector(Buffer.from(name))]));
  const extensions = [
    ...others.map((each, index) => Buffer.concat([u16(index + 1), vector(Buffer.from(each))])),
    Buffer.concat([u16(0), vector(list)]),
  ];
  const body = Buffer.concat([
    ...[u16(0x0303), Buffer.alloc(32, 7), Buffer.from([2, 1, 1]), vector(u16(0x1301))],
    ...[Buffer.from([1, 0]), vector(Buffer.concat(extensions))],
  ]);
  const message = Buffer.concat([Buffer.from([1, 0]), u16(body.length), body]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordSize) {
    const piece = message.subarray(at, at + recordSize);
    records.push(Buffer.from([22, 3, 1]), vector(piece));
  }
  return Buffer.concat(records);
}

/** Reads bytes that arrive in pieces of some sizes, again and again. */
function read(bytes: Buffer, sizes: readonly number[]): ClientHello {
  const reader = new ClientHelloReader();
  let found: ClientHello = { kind: "incomplete" };
  for (let at = 0, turn = 0; at < bytes.length && found.kind === "incomplete"; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    found = reader.read(bytes.subarray(at, at + size));
    at += size;
  }
  return found;
}

const label = fc.stringMatching(/^[a-z0-9_]([a-z0-9_-]{0,20}[a-z0-9])?$/);
const names = fc.array(label, { minLength: 1, maxLength: 8 }).map((labels) => labels.join("."));
const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 });
const extensions = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 });

it("the name of a ClientHello is read however it is cut into records and segments", () => {
  fc.assert(
    fc.property(
      names,
      extensions,
      fc.integer({ min: 1, max: 500 }),
      sizes,
      (name, others, size, cut) => {
        const bytes = helloRecords(name, others, size);
        expect(read(bytes, cut)).toMatchObject({ kind: "hello", serverName: name });
        // One byte less, and it is not there yet.
        expect(read(bytes.subarray(0, -1), cut)).toEqual({ kind: "incomplete" });
      },
    ),
    { numRuns: 500 },
  );
});

it("whatever comes, the response is the same in any pieces, and never an exception", () => {
  const changed = fc
    .tuple(names, extensions, fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { maxLength: 4 }))
    .map(([name, others, changes]) => {
      const bytes = helloRecords(name, others, 200);
      for (const [at, value] of changes) bytes[at % bytes.length] = value;
      return bytes;
    });
  const anything = fc.oneof(
    changed,
    fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(anything, sizes, (bytes, cut) => {
      const whole = read(bytes, [bytes.length || 1]);
      expect(read(bytes, cut)).toEqual(whole);
      expect(read(bytes, [1])).toEqual(whole);
      if (whole.kind === "hello") expect(whole.serverName ?? "a").toMatch(/^[a-z0-9_.-]{1,253}$/);
    }),
    { numRuns: 3000 },
  );
});

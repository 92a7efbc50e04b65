import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { AgentStore } from "../../compiler/agent/agent-store.ts";
import { readMountedEntries } from "../../runtime/contents/mounted-entries.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { TestProcess } from "../harness/test-process.ts";

const encoded = (entries: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(entries).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );

it("files of a Secret change together, and leave nothing behind", () => {
  const store = new AgentStore(temporaryFolder());
  const read = (key: string) => readFileSync(path.join(store.secrets, "pair", key), "utf8");
  store.putFiles(store.secrets, "pair", encoded({ "tls.crt": "1", "tls.key": "1", clientId: "1" }));
  store.putFiles(store.secrets, "pair", encoded({ "tls.crt": "2", "tls.key": "2" }));
  expect([read("tls.crt"), read("tls.key")]).toEqual(["2", "2"]);
  expect(readdirSync(path.join(store.secrets, "pair"))).toEqual(["tls.crt", "tls.key"]);
  expect(readdirSync(path.join(store.secrets, "..data"))).toHaveLength(2);
  store.removeFiles(store.secrets, "pair");
  expect(readdirSync(store.secrets)).toEqual(["..data"]);
  expect(readdirSync(path.join(store.secrets, "..data"))).toEqual([]);
});

it("entries of a Secret that nothing reads by name are written in one file, and read with the others", () => {
  const store = new AgentStore(temporaryFolder());
  const keys = Object.fromEntries(
    Array.from({ length: 9_000 }, (_, index) => [`client-${index}`, `key ${index}`] as const),
  );
  store.putFiles(store.secrets, "keys", encoded({ ...keys, ".htaccess": "u:p" }));
  const folder = path.join(store.secrets, "keys");
  expect(readdirSync(folder)).toEqual(["..entries", ".htaccess"]);
  expect(Object.fromEntries(readMountedEntries(folder))).toEqual({ ...keys, ".htaccess": "u:p" });
});

it("no reader finds a file missing while it changes", async () => {
  const store = new AgentStore(temporaryFolder());
  const put = (version: number) =>
    store.putFiles(
      store.secrets,
      "pair",
      encoded({ "tls.crt": String(version), "tls.key": String(version) }),
    );
  put(0);
  const file = path.join(store.secrets, "pair", "tls.crt");
  const reader = new TestProcess(process.execPath, ["--eval", READER, file], {});
  await reader.seen(/reading/);
  for (let version = 1; version <= 500; version += 1) {
    put(version);
    // Data stays for one change more: a second one would be too much for a reader that is held up.
    await reader.seen(new RegExp(`saw ${version}\\n`));
  }
});

const READER = `
const { readFileSync } = require("node:fs");
let seen = "0";
const look = () => {
  for (let i = 0; i < 100; i += 1) {
    const text = readFileSync(process.argv[1], "utf8");
    if (text === seen) continue;
    seen = text;
    console.log("saw " + text);
    if (text === "500") return;
  }
  setImmediate(look);
};
console.log("reading");
look();
`;

import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import {
  ITEM_LIST_NAMES,
  type ItemList,
  itemLists,
} from "../../runtime/mcp/protocol/item-lists.ts";
import { startGateway } from "../harness/gateway.ts";
import { pythonFor } from "../harness/python.ts";
import { mutatedItems } from "./mutated-items.ts";
import { messagesOf, openSession, post } from "./raw-client.ts";
import { mcpResponses, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";

const ROUNDS = 2500;

/** Returns mutated items under different names, so that none is left out as a duplicate. */
function itemsOf(list: ItemList): readonly object[] {
  const { nameField } = itemLists[list];
  return [...mutatedItems(list, ROUNDS)].map((item, at) => {
    const named = Object(item);
    return { ...named, [nameField]: `${named[nameField]}${at}` };
  });
}

it("FastMCP reads merged lists of 10,000 mutated items in both eras", async () => {
  const results = ITEM_LIST_NAMES.map((list) => [
    itemLists[list].method,
    JSON.stringify({ [list]: itemsOf(list) }),
  ]);
  const server = await startUpstream(mcpResponses(Object.fromEntries(results)));
  const other = await startUpstream(mcpResponses({}));
  const targets = [server, other].map(({ url }, at) => ({ name: `s${at}`, mcp: { host: url } }));
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ mcp: { targets } }] }] }],
  });
  const url = `${gateway.url}/mcp`;
  const session = await openSession(url);
  const counts = async (era: "legacy" | "auto") => {
    const found = ITEM_LIST_NAMES.map(async (list) => {
      const { method } = itemLists[list];
      const response =
        era === "auto"
          ? await ask(url, method)
          : await post(url, { jsonrpc: "2.0", id: 1, method }, session);
      const [message] = messagesOf(response) as { result: Record<string, unknown[]> }[];
      return [list, message?.result[list]?.length] as const;
    });
    return Object.fromEntries(await Promise.all(found));
  };
  const python = await pythonFor("newest");
  const script = path.join(import.meta.dirname, "python/list_fastmcp.py");
  const client = spawn(python, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const eras = ["legacy", "auto"] as const;
  client.stdin.end(eras.map((mode) => `${JSON.stringify({ url, mode })}\n`).join(""));
  const lines = (await text(client.stdout)).trim().split("\n");
  const expected = await Promise.all(eras.map(counts));
  for (const each of expected)
    for (const count of Object.values(each)) expect(count).toBeGreaterThan(300);
  expect(lines.map((line) => JSON.parse(line))).toEqual(expected);
}, 120_000);

import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { compileRule } from "../../compiler/cel/compile.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf, openSession, post } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { alternatives, plainText, rewritten, ruleTrees } from "./rule-forms.ts";
import { as } from "./subjects.ts";

type Rules = readonly object[];

const actions = ["allow", "deny", "require"] as const;
const ruled = (action: string, text: string) => [{ [action]: text }];
const isRule = (text: string, action: (typeof actions)[number]) =>
  compileRule(text, "mcp", action).expression !== undefined;

/** Rules, each with the same in other words; those that gwc refuses are excluded. */
const pairs: readonly { readonly name: string; readonly forms: readonly Rules[] }[] = fc
  .sample(fc.tuple(ruleTrees, fc.infiniteStream(fc.nat(1_000))), { numRuns: 60, seed: 20 })
  .flatMap(([tree, stream], index) => {
    const action = actions[index % 3] ?? "deny";
    const choose = (choices: number) => Number(stream.next().value) % choices;
    const plain = plainText(tree);
    const texts = [plain, rewritten(tree, choose), rewritten(tree, choose)];
    if (!isRule(plain, action) || !/mcp.*mcp/.test(plain)) return [];
    const parts = alternatives(tree).map(plainText);
    const isSplit = action === "deny" && parts.every((part) => isRule(part, action));
    const split = isSplit ? [parts.flatMap((part) => ruled(action, part))] : [];
    const forms = [...texts.map((text) => ruled(action, text)), ...split];
    return [{ name: `${action}: ${plain}`, forms }];
  });

const results = {
  "tools/list": '{"tools":[{"name":"add"},{"name":"drop"},{"name":"hello"}]}',
  "prompts/list": '{"prompts":[{"name":"ask"},{"name":"add"}]}',
  "resources/list":
    '{"resources":[{"uri":"memo://notes","name":"a"},{"uri":"a:secret","name":"b"}]}',
};

let upstream: RawUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream(mcpResponses(results));
  const targets = [{ name: "main", mcp: { host: upstream.url } }];
  gateway = await startMcpGateway(
    pairs.flatMap(({ forms }, at) =>
      forms.map((rules, form) => ({
        name: `rule-${at}-${form}`,
        path: `/rule-${at}-${form}`,
        targets,
        rules,
        hasSubjects: true,
      })),
    ),
  );
});

/** Returns the names that a caller sees listed. */
async function seen(path: string, caller: string | undefined): Promise<readonly unknown[]> {
  const url = gateway.url.replace("/mcp", path);
  const session = await openSession(url, caller === undefined ? {} : as(caller));
  const lists = Object.keys(results).map(async (method) => {
    const response = await post(url, { jsonrpc: "2.0", id: 1, method }, session);
    return messagesOf(response).map((message) => JSON.stringify(message));
  });
  return (await Promise.all(lists)).flat();
}

describe("a rule in other words allows the same tools, prompts and resources", () => {
  it.each(pairs.map(({ name }, at) => [name, at] as const))("%s", async (_, at) => {
    for (const caller of [undefined, "alice", "bob"]) {
      const [plain, ...others] = await Promise.all(
        (pairs[at]?.forms ?? []).map((_rules, form) => seen(`/rule-${at}-${form}`, caller)),
      );
      for (const other of others) expect(other).toEqual(plain);
    }
  });
});

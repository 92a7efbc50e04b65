import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Client as SessionClient } from "@modelcontextprotocol/sdk/client/index.js";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { connectSession } from "../session-client.ts";
import { connectStateless } from "../stateless-client.ts";
import { APP_URI, ASKING_TOOL, type MatrixCall } from "./nine-servers.ts";
import type { TryClient } from "./trial.ts";

const run = promisify(execFile);

/** Tries version 1 of the TypeScript SDK. */
export const trySdkOne: TryClient = async (url, calls) =>
  tryClient(await connectSession(url, { elicitation: { form: {} } }), calls);

/** Tries version 2 of the TypeScript SDK without sessions. */
export const trySdkTwo: TryClient = async (url, calls) => {
  const client = await connectStateless(url, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler("elicitation/create", () => ({
    action: "accept",
    content: { name: "Ada" },
  }));
  // The SDKs' types of results differ in what nobody here reads.
  return tryClient(client as unknown as SessionClient, calls);
};

async function tryClient(
  client: SessionClient,
  calls: Parameters<TryClient>[1],
): ReturnType<TryClient> {
  const call = async (name: string, given: Record<string, unknown> = {}) =>
    JSON.stringify((await client.callTool({ name, arguments: given })).content);
  const { tools } = await client.listTools();
  const results: string[] = [];
  for (const each of calls) results.push(await call(each.tool, { ...each.arguments }));
  const asked = await call(ASKING_TOOL);
  const { contents } = await client.readResource({ uri: APP_URI });
  await client.close();
  return { tools: tools.length, results, asked, app: JSON.stringify(contents) };
}

/** Tries the Inspector, whose command line is one connection for each request. */
export const tryInspector: TryClient = async (url, calls) => {
  const script = fileURLToPath(
    new URL("../../../node_modules/.bin/mcp-inspector", import.meta.url),
  );
  const home = temporaryFolder({});
  const inspect = async (...parameters: string[]): Promise<string> => {
    const fixed = ["--cli", "--server-url", url, "--transport", "http", "--format", "json"];
    const all = [script, ...fixed, "--method", ...parameters];
    const env = { ...process.env, HOME: home };
    // A refusal ends it with another code than 0.
    return run(process.execPath, all, { env, timeout: 240_000, maxBuffer: 1e8 }).then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
    );
  };
  const list = await inspect("tools/list");
  const { result: listed } = JSON.parse(list);
  if (listed === undefined) throw new Error(list);
  const callOf = ({ tool, arguments: given }: MatrixCall) => {
    const pairs = Object.entries(given).map(([name, value]) => ["--tool-arg", `${name}=${value}`]);
    return inspect("tools/call", "--tool-name", tool, ...pairs.flat());
  };
  // One after the other: each starts all servers.
  const results: string[] = [];
  for (const call of calls) results.push(await callOf(call));
  const asked = await inspect("tools/call", "--tool-name", ASKING_TOOL);
  const app = await inspect("resources/read", "--uri", APP_URI);
  return { tools: listed.tools.length, results, asked, app };
};

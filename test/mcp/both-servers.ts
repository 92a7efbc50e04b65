import { ownScript } from "../harness/own-script.ts";
import { TestProcess } from "../harness/test-process.ts";

/** The conformance suite's server with sessions, and the one without. */
export const serverScripts = {
  sessions: ownScript("conformance/mcp-server.ts"),
  stateless: ownScript("conformance/stateless-server.ts"),
};

/** Starts both servers over HTTP and returns their ports. They are stopped at the end of the test. */
export async function startBothServers() {
  const { sessions, stateless } = serverScripts;
  const [server, other] = [
    new TestProcess(process.execPath, [sessions]),
    new TestProcess(process.execPath, [stateless, "http", "reject"]),
  ];
  const [, port] = await server.seen(/port (\d+)/);
  const [, statelessPort] = await other.seen(/port (\d+)/);
  return { sessions: port, stateless: statelessPort };
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { pause } from "../harness/pause.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { itWith, runTool } from "../harness/tool.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Connections of one attack. */
const attackers = 200;

async function startTarget(): Promise<Gateway> {
  const large = Buffer.alloc(1024 * 1024, "x");
  const upstream = await startUpstream((request, response) => {
    request.on("error", () => {});
    request.resume();
    // Connections that the gateway keeps for later requests do not count as left over.
    response.setHeader("connection", "close");
    if (request.url === "/large") response.end(large);
    else request.on("end", () => response.end("ok"));
  });
  return startGateway({ listeners: [{ routes: [{ backends: [{ host: upstream }] }] }] });
}

/** Attacks for a few seconds; honest clients come and go meanwhile. Their statuses. */
async function attack(
  { port }: Gateway,
  path: string,
  parameters: readonly string[],
): Promise<readonly number[]> {
  const report = join(temporaryFolder(), "slow");
  // Its probe waits longer than a starved process takes (`-p`).
  const count = String(attackers);
  const many = ["-c", count, "-r", count, "-i", "1", "-l", "4", "-p", "60"];
  const url = `http://127.0.0.1:${port}${path}`;
  let isOver = false;
  const tool = runTool("slowhttptest", [...parameters, ...many, "-g", "-o", report, "-u", url]);
  const ended = tool.finally(() => {
    isOver = true;
  });
  const statuses: number[] = [];
  while (!isOver) {
    const connection: RequestInit = { headers: { connection: "close" } };
    statuses.push((await fetch(`http://127.0.0.1:${port}/`, connection)).status);
    await pause(20);
  }
  await ended;
  const rows = readFileSync(`${report}.csv`, "utf8").trim().split("\n").slice(1);
  const held = rows.map((row) => Number(row.split(",")[3]));
  // The connections that it held prove the attack; its own probe saw the service all the time.
  expect(Math.max(...held)).toBeGreaterThan(attackers / 2);
  expect(rows.filter((row) => Number(row.split(",")[4]) === 0)).toEqual([]);
  return statuses;
}

for (const [name, path, parameters] of [
  ["heads", "/", ["-H"]],
  ["bodies", "/", ["-B", "-s", "8192"]],
  ["reads of large responses", "/large", ["-X", "-w", "16", "-y", "32", "-n", "1", "-z", "16"]],
] as const) {
  itWith(
    "slowhttptest",
    `honest clients are served while slow ${name} hold 200 connections`,
    async () => {
      const gateway = await startTarget();
      const before = sockets(gateway);
      const held = await heldMegabytes(gateway);
      const statuses = await attack(gateway, path, parameters);
      expect(statuses.length).toBeGreaterThan(0);
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect((await heldMegabytes(gateway)) - held).toBeLessThan(50);
      // Nothing of the attack stays, neither on this side nor upstream.
      await eventually(() => sockets(gateway) <= before + 10 || null, "the end of the connections");
    },
  );
}

function sockets({ pid }: Gateway): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

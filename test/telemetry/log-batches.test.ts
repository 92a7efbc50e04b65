import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const writer = new URL("../../runtime/telemetry/logs/log-writer.ts", import.meta.url);

/** Writes a line in each turn of the event loop; the last line contains the duration in milliseconds. */
const script = `
const { LogWriter } = await import(${JSON.stringify(fileURLToPath(writer))});
const log = new LogWriter(1);
const started = performance.now();
for (let i = 0; i < 30000; i++) {
  log.add(\`line \${i}\\n\`);
  await new Promise((resolve) => setImmediate(resolve));
}
log.add(\`\${performance.now() - started}\\n\`);
await log.close();
`;

it("single lines are batched for 50 ms, also during a write", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill();
  });
  const pieces: string[] = [];
  for await (const piece of child.stdout) pieces.push(piece.toString());
  const lines = pieces.join("").trimEnd().split("\n");
  const duration = Number(lines.pop());
  expect(lines).toEqual(Array.from({ length: 30_000 }, (_, i) => `line ${i}`));
  expect(pieces.length).toBeLessThan(duration / 40 + 20);
});

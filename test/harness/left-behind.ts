import type { TestProcess } from "./test-process.ts";

/** Collects what is young from time to time; at a signal it says what of the rest nobody held. */
const collector = `
  import { setFlagsFromString } from "node:v8";
  import { runInNewContext } from "node:vm";
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const young = () => collect({ type: "minor" });
  setInterval(young, 50).unref();
  process.on("SIGUSR2", () => {
    for (let i = 0; i < 3; i++) young();
    const { heapUsed } = process.memoryUsage();
    collect();
    console.log("left behind: " + (heapUsed - process.memoryUsage().heapUsed));
  });
`;

/** For the environment of a gateway that is asked what it left behind. */
export const collecting = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(collector)}`,
};

/** Bytes that nobody holds, and that only a collection of the whole heap has cleared away. */
export async function leftBehind(gateway: TestProcess): Promise<number> {
  const before = gateway.output.length;
  gateway.signal("SIGUSR2");
  return Number((await gateway.seen(/left behind: (-?\d+)/, before))[1]);
}

// Evaluates many versions of a policy's module, as `gwc run` does, and prints how many of them are still in memory.
import { evaluateModules, runnableUserModule } from "../../compiler/run/evaluate-modules.ts";

const VERSIONS = 1000;

const versions: WeakRef<object>[] = [];
for (let version = 0; version < VERSIONS; version++) {
  const text = `import { definePolicy } from "gwc/policy";
const table = new Array(1000).fill(${version});
export default definePolicy({ request: (request) => request.refuse(403, String(table)) });
`;
  const module = { path: "policies/own.ts", ...runnableUserModule(text) };
  const policy = (await evaluateModules([module])).get("policies/own.ts")?.default;
  versions.push(new WeakRef(Object(policy)));
}
// References of this turn are kept until it ends.
await new Promise((resolve) => setImmediate(resolve));
globalThis.gc?.();
process.stdout.write(`${versions.filter((each) => each.deref() !== undefined).length}\n`);

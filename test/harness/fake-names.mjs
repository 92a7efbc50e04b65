// Loaded before a gateway. Names below `.test` resolve to the addresses in GWC_TEST_NAMES, each lookup to the next one;
// null means that the name does not exist. This cannot be a real DNS server: the system's resolver asks only the
// servers of the machine.
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";

const names = JSON.parse(process.env.GWC_TEST_NAMES ?? "{}");
const asked = new Map();
const real = dns.lookup;

dns.lookup = (name, options, done) => {
  const answers = names[name] ?? (name.endsWith(".test") ? names["*"] : undefined);
  if (answers === undefined) {
    real(name, options, done);
    return;
  }
  const turn = asked.get(name) ?? 0;
  asked.set(name, turn + 1);
  const found = answers[Math.min(turn, answers.length - 1)];
  if (found === null) {
    setImmediate(() => done(Object.assign(new Error(`ENOTFOUND ${name}`), { code: "ENOTFOUND" })));
    return;
  }
  const list = [found]
    .flat()
    .map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  setImmediate(() =>
    options.all ? done(null, list) : done(null, list[0].address, list[0].family),
  );
};
syncBuiltinESMExports();

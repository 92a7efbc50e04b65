import path from "node:path";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { Gateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { routesConfig } from "../harness/routes-gateway.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const COUNT = 1_500;
const numbers = Array.from({ length: COUNT }, (_, index) => index);

/** Rules that admit `/x0`, `/x1` ..., and no others: the number of their conditions is above what one function may have. */
const admitted: Readonly<Record<string, readonly string[]>> = {
  "a rule for each": numbers.map(
    (each) => `request.path.startsWith("/x") && request.path == "/x${each}"`,
  ),
  "long rules of comparisons": [0, 1, 2].map((part) =>
    numbers
      .filter((each) => each % 3 === part)
      .map((each) => `request.path=="/x${each}"`)
      .join("||"),
  ),
  "long rules of calls": [0, 1, 2].map((part) =>
    numbers
      .filter((each) => each % 3 === part)
      .map((each) => `request.path.endsWith("/x${each}")`)
      .slice(0, 450)
      .join("||"),
  ),
};

it.each(Object.entries(admitted))(
  "%s: what check accepts passes the type check of the build, and is served",
  async (_, rules) => {
    const routes = `
- policies:
    authorization:
      rules: ${JSON.stringify(rules)}
    directResponse: { status: 200 }
`;
    const file = routesConfig(routes, await freePort());
    const folder = temporaryFolder({ "gateway.yaml": file });
    const built = await gwc(["build", "gateway.yaml", "--out", "out"], { cwd: folder });
    expect(built).toMatchObject({ code: 0, stderr: "" });
    const script = path.join(folder, "out/gateway.mjs");
    const gateway = await new Gateway(script, folder, {}).listening();
    const status = async (at: string) => (await send(`${gateway.url}${at}`, "GET")).status;
    const paths = ["/x0", "/x249", "/x250", "/x700", "/x1349", `/x${COUNT}`, "/x", "/y"];
    expect(await Promise.all(paths.map(status))).toEqual([200, 200, 200, 200, 200, 403, 403, 403]);
  },
);

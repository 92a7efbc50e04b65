import { expect, it } from "vitest";
import { Editor } from "../harness/editor.ts";

/** Number of edits: in an hour, someone makes 10,000. */
const EDITS = process.env.GWC_LONG_TESTS === "1" ? 10_000 : 400;
/** Edits after which compiled code and caches are complete, as a share. */
const WARM = 1 / 3;
/** Growth in MiB that collections of garbage explain; a leak of the nodes of a text for each edit has more. */
const GROWTH = 150;

it(`memory stays flat over ${EDITS} edits of a file with 500 lines`, async () => {
  const routes = Array.from(
    { length: 60 },
    (_, index) => `  - name: r${index}
    matches: [{ path: { pathPrefix: /r${index} } }]
    policies:
      authorization:
        rules:
          - allow: request.path.startsWith("/r${index}")
    backends:
      - host: 127.0.0.1:${3001 + index}
`,
  );
  const text = `gateways:\n  default: { port: 3000 }\nroutes:\n${routes.join("")}`;
  const editor = await Editor.start({ "gateway.yaml": text });
  await editor.open("gateway.yaml", text);
  const seen: number[] = [];
  for (let index = 0; index < EDITS; index += 1) {
    // The paths of rules grow letter by letter, and sometimes all is taken back.
    const prefix = `path.startsWith("/r${index % 60}`;
    const at = editor.text("gateway.yaml").indexOf(prefix) + prefix.length;
    if (index % 97 === 96) await editor.change("gateway.yaml", text);
    else await editor.edit("gateway.yaml", at, at, "abcdef".charAt(index % 6));
    await editor.diagnostics("gateway.yaml");
    seen.push(editor.memory);
  }
  const [warm, late] = [seen.slice(0, EDITS * WARM), seen.slice(-EDITS * WARM)];
  expect(Math.min(...late)).toBeLessThan(Math.max(...warm) + GROWTH);
}, 7_200_000);

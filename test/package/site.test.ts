import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { anchorOf, type SitePage } from "../../.github/site/site-text.ts";
import { sitePages } from "../../.github/site/write-pages.ts";
import { commands } from "../../compiler/commands/commands.ts";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { diagnosticCodes } from "../../compiler/inspect/reference/diagnostics.ts";
import { metricGroups } from "../../compiler/observability/metric-groups.ts";
import { policies } from "../../compiler/policies/index.ts";
import { gwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";

const tutorials = globSync(".github/site/tutorials/*.md", { cwd: root }).map((file) => {
  return { name: path.basename(file, ".md"), text: readFileSync(path.join(root, file), "utf8") };
});

/** Returns the examples of a tutorial by the words after the fence. */
function examples(text: string, words: string): readonly string[] {
  const fence = new RegExp(`^\`\`\`${words}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...text.matchAll(fence)].map(([, code = ""]) => code);
}

describe("the tutorials", () => {
  it.each(tutorials)("$name shows configurations that gwc check accepts", ({ text }) => {
    for (const yaml of examples(text, "yaml")) {
      const { findings } = checkInput(["a.yaml"], memoryHost({ "a.yaml": yaml }), false);
      const errors = findings.filter(({ severity }) => severity === "error");
      expect(errors.map(({ message }) => message)).toEqual([]);
    }
  });

  it.each(tutorials)(
    "$name shows tests that pass, and workflows without a mistake",
    async ({ text }) => {
      const [config = ""] = examples(text, "yaml");
      for (const tests of examples(text, "yaml test")) {
        const workspace = new Workspace({ "gateway.yaml": config, "gateway.test.yaml": tests });
        const { code, stdout } = await gwc(["test"], { cwd: workspace.folder });
        expect([stdout, code]).toEqual([expect.any(String), 0]);
      }
      for (const workflow of examples(text, "yaml workflow")) {
        const { stdout } = spawnSync(program("actionlint"), ["-"], {
          input: workflow,
          encoding: "utf8",
        });
        expect(stdout).toBe("");
      }
    },
  );
});

describe("the site", () => {
  let pages: readonly SitePage[];
  let paths: ReadonlySet<string>;
  beforeAll(async () => {
    pages = await sitePages();
    paths = new Set(pages.map((page) => page.path));
  });

  it("has a page for each policy, diagnostic, metric and command", () => {
    const wanted = [
      ...policies.map(({ kind }) => `policies/${kind}`),
      ...diagnosticCodes.map((code) => `diagnostics/${code}`),
      ...metricGroups.flatMap(({ metrics }) => metrics.map(({ name }) => `metrics/${name}`)),
      ...commands.map(({ name }) => `commands/${name}`),
    ];
    expect(wanted.filter((name) => !paths.has(`reference/${name}.md`))).toEqual([]);
  });

  it("has no two pages at one path, whatever the case of letters", () => {
    expect(new Set(pages.map((page) => page.path.toLowerCase())).size).toBe(pages.length);
  });

  it("has no link to a page or heading that does not exist", () => {
    const anchors = new Map(pages.map(({ path: name, text }) => [name, headings(text)]));
    const dead = pages.flatMap(({ path: file, text }) =>
      linksOf(text)
        .filter((link) => {
          const [target = "", anchor] = link.split("#");
          const page = target === "" ? file : pageOf(target);
          if (page === undefined) return true;
          return anchor !== undefined && anchors.get(page)?.has(anchor) !== true;
        })
        .map((link) => `${file}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  it("has no table with a column that has no heading", () => {
    const empty = pages.flatMap(({ path: file, text }) =>
      [...text.matchAll(/^(\|.*)\n\|(?: ?-+ ?\|)+$/gm)]
        .filter(([, head = ""]) => /\|\s*\|/.test(head))
        .map(([, head]) => `${file}: ${head}`),
    );
    expect(empty).toEqual([]);
  });

  it("has a page for each client of the guide about agents", () => {
    const clients = ["claude-code", "codex", "cursor", "openais-sdks", "mcp-clients"];
    expect(clients.filter((name) => !paths.has(`clients/${name}.md`))).toEqual([]);
  });

  /** Returns links inside the site, without those in code. */
  function linksOf(text: string): readonly string[] {
    const prose = text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]+`/g, "");
    return [...prose.matchAll(/(?<!\\)\]\(([/#][^)\s]*)\)/g)].map(([, link = ""]) => link);
  }

  function headings(text: string): ReadonlySet<string> {
    const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
    const found = [...prose.matchAll(/^#{1,6} (.+)$/gm)];
    return new Set(found.map(([, heading = ""]) => anchorOf(heading.replace(/&lt;/g, "<"))));
  }

  function pageOf(target: string): string | undefined {
    const name = target.slice(1).replace(/\.md$/, "");
    const candidates = [
      name === "" ? "index.md" : `${name}.md`,
      `${name.replace(/\/$/, "")}/index.md`,
    ];
    return candidates.find((each) => paths.has(each));
  }
});

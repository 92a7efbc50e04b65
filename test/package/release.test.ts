import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

const workflows = globSync(".github/workflows/*.yml", { cwd: root }).map((name) => {
  const text = readFileSync(path.join(root, name), "utf8");
  return { name, text, jobs: Object.values(parse(text).jobs) as Record<string, unknown>[] };
});

describe("workflows", () => {
  it("pass actionlint", () => {
    const files = workflows.map(({ name }) => name);
    const { stdout, status } = spawnSync(program("actionlint"), files, {
      cwd: root,
      encoding: "utf8",
    });
    expect([stdout, status]).toEqual(["", 0]);
  });

  it.each(workflows)("$name uses actions by their commits", ({ text }) => {
    const used = [...text.matchAll(/uses: (\S+)(.*)/g)].filter(
      ([, name]) => !name?.startsWith("./"),
    );
    for (const [line] of used) expect(line).toMatch(/@[0-9a-f]{40} # v\d/);
  });

  it.each(workflows)(
    "$name ends its jobs, and has the least rights by default",
    ({ text, jobs }) => {
      expect(parse(text).permissions).toEqual({ contents: "read" });
      for (const job of jobs)
        if (!("uses" in job)) expect(job["timeout-minutes"]).toBeTypeOf("number");
    },
  );

  it.each(workflows)("$name keeps values of events out of scripts", ({ jobs }) => {
    const steps = jobs.flatMap(({ steps: own = [] }) => own as { run?: string }[]);
    for (const { run = "" } of steps) expect(run).not.toContain("${{");
  });
});

it("the package is published from a file: npm reads a path without ./ as a repository of GitHub", () => {
  const published = workflows.flatMap(({ text }) => [...text.matchAll(/npm publish .*? (\S+)$/gm)]);
  expect(published.map(([, file]) => file)).toEqual(["./release/gwc-*.tgz"]);
});

/** Runs `.ci/release-notes` in a folder with this changelog. */
function notes(version: string, changelog: string) {
  const folder = temporaryFolder({ ".github/CHANGELOG.md": changelog });
  for (const file of [".ci/release-notes", "package.json", "templates/helm/gwc/Chart.yaml"])
    cpSync(path.join(root, file), path.join(folder, file));
  const chart = path.join(folder, "templates/helm/gwc/Chart.yaml");
  const bump = (file: string, pattern: RegExp, line: string) =>
    writeFileSync(file, readFileSync(file, "utf8").replace(pattern, line));
  bump(chart, /^version: .*$/m, "version: 1.2.0");
  bump(path.join(folder, "package.json"), /"version": ".*"/, '"version": "1.2.0"');
  return spawnSync(program("bash"), [path.join(folder, ".ci/release-notes"), version], {
    encoding: "utf8",
  });
}

describe("the notes of a release", () => {
  const changelog =
    "# Changelog\n\n## Unreleased\n\n## 1.2.0 (2026-12-01)\n\n- New.\n\n## 1.1.0\n\n- Old.\n";

  it("are the section of its version", () => {
    expect(notes("1.2.0", changelog).stdout.trim()).toBe("- New.");
  });

  it.each([
    ["1.1.0", changelog, "package.json has version 1.2.0"],
    ["1.2.0", "# Changelog\n\n## Unreleased\n", 'the changelog has no section "## 1.2.0"'],
  ])("fail for %s if a version differs or the section is missing", (version, text, reason) => {
    const { status, stderr } = notes(version, text);
    expect([status, stderr]).toEqual([1, `release-notes: ${reason}\n`]);
  });

  it("need a version in the package and the chart that are the same", () => {
    const chart = parse(readFileSync(path.join(root, "templates/helm/gwc/Chart.yaml"), "utf8"));
    const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });
});

/** The parts of a lock file and of a bill of materials that are compared. */
interface Listed {
  readonly packages: Readonly<Record<string, { version: string; dev?: boolean }>>;
  readonly components: readonly { name: string; purl: string }[];
  readonly metadata: { readonly component: { readonly name: string } };
}

it("the bill of materials lists what users install, and what is compiled into the package", () => {
  for (const tool of ["npm", "jq"] as const) program(tool);
  const read = (text: string): Listed => JSON.parse(text);
  const printed = execFileSync(path.join(root, ".ci/bill-of-materials"), { encoding: "utf8" });
  const { components, metadata } = read(printed);
  const lock = read(readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const installed = Object.entries(lock.packages)
    .filter(([place, { dev = false }]) => place !== "" && !dev)
    .map(([place, { version }]) => `${place.replace(/^.*node_modules\//, "")}@${version}`);
  const listed = components.map(({ purl }) => decodeURIComponent(purl.replace("pkg:npm/", "")));
  const withoutPage = listed.filter((name) => !name.startsWith("preact@"));
  expect(metadata.component.name).toBe("gwc");
  expect(listed.length - withoutPage.length).toBe(1);
  expect(withoutPage.toSorted()).toEqual([...new Set(installed)].toSorted());
});

it("the chart of a release uses the images of the release by their digest", () => {
  const helm = program("helm");
  const [registry, digest] = ["registry.test/owner/gwc", `sha256:${"0123456789abcdef".repeat(4)}`];
  const folder = temporaryFolder();
  const script = path.join(root, ".ci/package-chart");
  execFileSync(program("bash"), [script, "1.2.3", registry, digest, folder]);
  const chart = path.join(folder, "gwc-1.2.3.tgz");
  const rendered = execFileSync(helm, ["template", "gwc", chart, "--kube-version", "1.35"], {
    encoding: "utf8",
  });
  expect(rendered).toContain(`image: "${registry}/controller:1.2.3@${digest}"`);
  expect(rendered).toContain(`--image=${registry}/gateway:1.2.3@${digest}`);
  expect(rendered).toContain('app.kubernetes.io/version: "1.2.3"');
});

it("the package has no test, example or file of an editor", () => {
  const { files } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  expect(files.toSorted()).toEqual([
    ".github/actions",
    ".github/guides",
    "compiler/gwc.mjs",
    "compiler/inspect/review/assets",
    "compiler/run/admin/assets",
    "dist",
    "gateway.schema.json",
    "runtime",
  ]);
  const options = { cwd: root, encoding: "utf8" } as const;
  const ignored = execFileSync(program("git"), ["ls-files", ...files], options).split("\n");
  expect(ignored.filter((name) => /(^|\/)(test|examples|\.vscode)\/|\.test\./.test(name))).toEqual(
    [],
  );
});
